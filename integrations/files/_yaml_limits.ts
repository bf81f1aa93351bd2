/** Limits of YAML that others may have written: its parser takes exponential time for some forms of nesting. */

const MAX_CHARACTERS = 1024 * 1024;
const MAX_LINES = 20_000;
/** Levels of brackets that are open at once, and of blocks. */
const MAX_DEPTH = 50;
/** Signs of lists, keys and values that open blocks within one line. */
const MAX_SIGNS = 10;
const SIGNS = new RegExp(`^[ \\t]*(?:[-?:][ \\t]+){${MAX_SIGNS + 1}}`);
const MAX_ALIASES = 100;
/** Entries in brackets: each name of a map is compared with all others. */
const MAX_ENTRIES = 10_000;
const ALIAS = /(?:^|[\s,[{:-])\*[^\s,[\]{}*]/g;

/** Returns the line of the first thing that makes a text too costly to parse, and what that is; undefined: nothing does. */
export function findYamlExcess(text: string): { line: number; text: string } | undefined {
  if (text.length > MAX_CHARACTERS) {
    return { line: 1, text: `The file has more than ${MAX_CHARACTERS} characters` };
  }
  let open = 0;
  let aliases = 0;
  let entries = 0;
  const indents: number[] = [];
  for (const [n, line] of text.split("\n").entries()) {
    const excess = (what: string) => ({ line: n + 1, text: `The file has more than ${what}` });
    if (n >= MAX_LINES) return excess(`${MAX_LINES} lines`);
    if (SIGNS.test(line)) return excess(`${MAX_SIGNS} blocks that begin in one line`);
    aliases += line.match(ALIAS)?.length ?? 0;
    if (aliases > MAX_ALIASES) return excess(`${MAX_ALIASES} aliases`);
    for (const character of line) {
      if (character === "[" || character === "{") open++;
      if (character === "]" || character === "}") open = Math.max(0, open - 1);
      if (character === "," && open > 0) entries++;
      if (entries > MAX_ENTRIES) return excess(`${MAX_ENTRIES} entries in brackets`);
      if (open > MAX_DEPTH) return excess(`${MAX_DEPTH} open brackets`);
    }
    const indent = line.search(/[^ ]/);
    if (indent === -1) continue;
    while (indents.length > 0 && indents.at(-1)! >= indent) indents.pop();
    indents.push(indent);
    if (indents.length > MAX_DEPTH) return excess(`${MAX_DEPTH} levels`);
  }
  return undefined;
}
