/** Tokens of SQL: identifiers, texts, numbers and signs, without comments. */

/** A piece of a statement. */
export interface SqlToken {
  readonly kind: "name" | "text" | "number" | "sign" | "client";
  /** A name without its quotes, lower case; names that dots join are one: `mysql.user`. */
  readonly value: string;
}

const MAX_TOKENS = 2_000;
const SKIPPED = /^\s+/;
const NAME = /^(?:[A-Za-z_\uE000][\w$\uE000]*|"(?:[^"]|"")*"|`[^`]*`|\[[A-Za-z_][\w ]*\])/;
const TEXT = /^(?:[eEnNbBxX]?'(?:[^'\\]|''|\\.)*'|\$(\w*)\$[\s\S]*?\$\1\$)/;
const NUMBER = /^\d[\w.]*/;
/** A word of the client itself, such as `\gexec`. */
const CLIENT = /^\\(?:\w+\+?|[!?])/;

/** Splits a statement into tokens. */
export function sqlTokens(statement: string): readonly SqlToken[] {
  const tokens: SqlToken[] = [];
  let rest = statement;
  while (rest !== "" && tokens.length < MAX_TOKENS) {
    const skipped = SKIPPED.exec(rest)?.[0];
    const text = TEXT.exec(rest)?.[0];
    const name = NAME.exec(rest)?.[0];
    const number = NUMBER.exec(rest)?.[0];
    const client = CLIENT.exec(rest)?.[0];
    const last = tokens.at(-1);
    if (skipped !== undefined) rest = rest.slice(skipped.length);
    else if (text !== undefined) take("text", text, text.length);
    else if (name !== undefined) {
      const plain = name.replace(/^["`[]|["`\]]$/g, "").toLowerCase();
      const before = tokens.at(-2);
      if (last?.value === "." && before?.kind === "name") {
        tokens.splice(-2);
        take("name", `${before.value}.${plain}`, name.length);
      } else take("name", plain, name.length);
    } else if (number !== undefined) take("number", number, number.length);
    else if (client !== undefined) take("client", client, client.length);
    else take("sign", rest[0]!, 1);
  }
  return tokens;

  function take(kind: SqlToken["kind"], value: string, length: number): void {
    tokens.push({ kind, value });
    rest = rest.slice(length);
  }
}

/** Returns the last part of a name: `user` of `mysql.user`. */
export function lastPart(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1);
}
