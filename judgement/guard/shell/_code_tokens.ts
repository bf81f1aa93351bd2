/** Tokens of program text: enough of them to tell names, calls and texts apart in any of the small languages. */

/** A piece of program text. */
export interface CodeToken {
  readonly kind: "name" | "text" | "template" | "number" | "sign";
  /** The name, the content of a text, or the sign. */
  readonly value: string;
}

const MAX_TOKENS = 2_000;
const SKIPPED = /^(\s+|\/\/[^\n]*|\/\*[\s\S]*?\*\/)/;
const NAME = /^[A-Za-z_$@][\w$]*/;
const NUMBER = /^\d[\w.]*/;
const TEXT = /^(["'])((?:\\.|(?!\1)[^\\])*)\1/s;
const TEMPLATE = /^`((?:\\.|[^`\\])*)`/s;

/** Returns what escapes such as `\u0024`, `\x24` and `\'` stand for. */
function unescapeText(text: string): string {
  return text.replace(
    /\\(?:u\{?([0-9a-fA-F]{1,6})\}?|x([0-9a-fA-F]{2})|([\s\S]))/g,
    (whole, unicode, hex, char) => {
      const code = parseInt(unicode ?? hex ?? "", 16);
      if (Number.isNaN(code)) return char ?? whole;
      return code <= 0x10ffff ? String.fromCodePoint(code) : "";
    },
  );
}

/**
 * Splits program text into tokens.
 *
 * @param inserted expression of code within texts, such as `${…}` of a template; its tokens follow those of the text
 */
export function tokenize(code: string, inserted = /\$\{([^}]*)\}/g): readonly CodeToken[] {
  const tokens: CodeToken[] = [];
  let rest = code;
  while (rest !== "" && tokens.length < MAX_TOKENS) {
    const skipped = SKIPPED.exec(rest)?.[0];
    const name = NAME.exec(rest)?.[0];
    const number = NUMBER.exec(rest)?.[0];
    const text = TEXT.exec(rest);
    const template = TEMPLATE.exec(rest);
    if (skipped !== undefined) rest = rest.slice(skipped.length);
    else if (name !== undefined) take("name", name, name.length);
    else if (number !== undefined) take("number", number, number.length);
    else if (text) {
      const content = text[2]!;
      take("text", unescapeText(content), text[0].length);
      if (inserted.source.startsWith("\\\\")) takeInserted(content);
    } else if (template) {
      take("template", template[1]!, template[0].length);
      takeInserted(template[1]!);
    } else take("sign", rest[0]!, 1);
  }
  return tokens;

  function take(kind: CodeToken["kind"], value: string, length: number): void {
    tokens.push({ kind, value });
    rest = rest.slice(length);
  }

  function takeInserted(content: string): void {
    for (const [, code] of content.matchAll(inserted)) {
      tokens.push({ kind: "sign", value: ";" }, ...tokenize(code!, inserted), {
        kind: "sign",
        value: ";",
      });
    }
  }
}
