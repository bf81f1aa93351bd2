/** Tells whether a script of sed only prints and changes text. */

const PLAIN = new Set("pdqQ=nNgGhHxDPl");

/** Tells whether every command of a script is known to touch nothing but the text that passes. */
export function isPlainSed(script: string): boolean {
  let at = 0;
  while (at < script.length) {
    const address =
      /^(?:[\s;{}]|\d+|\$|[,~+!]|\/(?:\\.|\[[^\]]*\]|[^/\\[])*\/[IM]?|\\(.)(?:\\.|(?!\1).)*\1[IM]?)+/s
        .exec(script.slice(at))?.[0] ?? "";
    at += address.length;
    if (at >= script.length) break;
    const command = script[at]!;
    const rest = script.slice(at + 1);
    if (PLAIN.has(command)) at += 1 + (/^\s*\d*/.exec(rest)?.[0].length ?? 0);
    else if (command === "s" || command === "y") {
      const length = substitutionLength(rest);
      if (length === undefined) return false;
      at += 1 + length;
    } else if (/[aicbtT:#]/.test(command)) {
      const end = rest.search(/[abtT]/.test(command) && command !== "a" ? /[;\n}]/ : /\n/);
      at = end < 0 ? script.length : at + 1 + end;
    } else return false;
  }
  return true;
}

/** Returns the length of `/x/y/g`; undefined: it writes or runs something, or can't be read. */
function substitutionLength(text: string): number | undefined {
  const mark = text[0];
  if (mark === undefined || /[\s\\\w]/.test(mark)) return undefined;
  let at = 1;
  for (let part = 0; part < 2; at++) {
    if (at >= text.length) return undefined;
    if (text[at] === "\\") at++;
    else if (text[at] === mark) part++;
  }
  const flags = /^[gpiImM\d]*/.exec(text.slice(at))![0];
  const next = text[at + flags.length];
  return next === undefined || /[;\s}]/.test(next) ? at + flags.length : undefined;
}
