/** A part of a text, from a character to the one after it. */
export type Span = readonly [from: number, to: number];

/**
 * A text of the platform's own words with quotes of others. What is its own is known by where it came from: AI agents are
 * warned of what the quotes say, never of the words around them. As JSON it is its text.
 */
export class ComposedText {
  /** @param quoted where it quotes others, in its order, without overlaps */
  constructor(readonly text: string, readonly quoted: readonly Span[]) {}
  /** The words of others, in the order of the text. */
  get quotes(): readonly string[] {
    return this.quoted.map(([from, to]) => this.text.slice(from, to));
  }
  /** The text with `…` for each quote. */
  get own(): string {
    return this.replaceQuotes(() => "…").text;
  }
  /** Returns the text with other words in place of its quotes. A plain text is a quote again. */
  replaceQuotes(replace: (quote: string) => Text): ComposedText {
    const parts: Text[] = [];
    const own: string[] = [];
    let end = 0;
    for (const [from, to] of this.quoted) {
      own.push(this.text.slice(end, from));
      parts.push(replace(this.text.slice(from, to)));
      end = to;
    }
    return compose([...own, this.text.slice(end)], parts);
  }
  /** The number of its characters. */
  get length(): number {
    return this.text.length;
  }
  toJSON(): string {
    return this.text;
  }
  toString(): string {
    return this.text;
  }
}

/** A text: of the platform, as it was composed, or of anybody. */
export type Text = string | ComposedText;

/** A value that is put into a text; it is printed as template literals print it. */
type Value = Text | number | boolean | null | undefined;

/**
 * Composes a text of the platform: the words of the template are its own, and the texts put into it quotes of others.
 * Numbers, and the own words of a composed text, stay the platform's own.
 *
 * ```ts
 * say`${service} fails its ${check} check (${code})`
 * ```
 */
export function say(
  own: TemplateStringsArray,
  ...values: readonly Value[]
): ComposedText {
  return compose(own, values);
}

/** Joins texts. The separator is the platform's own. */
export function joinTexts(texts: readonly Text[], separator = ""): ComposedText {
  return texts.length === 0
    ? compose([""], [])
    : compose(["", ...texts.slice(1).map(() => separator), ""], texts);
}

/** Fills the places of a template of the platform, such as `{service}`. A place without a value is left out. */
export function fillIn(
  template: string,
  values: Readonly<Record<string, Text | undefined>>,
): ComposedText {
  const places = [...template.matchAll(/\{\w+\}/g)]
    .map(({ index, 0: place }): Span => [index, index + place.length]);
  return new ComposedText(template, places)
    .replaceQuotes((place) => values[place.slice(1, -1)] ?? "");
}

/** Returns the start of a text, with its quotes. @param length most characters */
export function cutText(text: Text, length: number): Text {
  if (typeof text === "string") return text.slice(0, length);
  const quoted = text.quoted.filter(([from]) => from < length)
    .map(([from, to]): Span => [from, Math.min(to, length)]);
  return new ComposedText(text.text.slice(0, length), quoted);
}

/** @param own one more than the values that stand between them */
function compose(own: readonly string[], values: readonly Value[]): ComposedText {
  let text = own[0]!;
  const quoted: Span[] = [];
  values.forEach((value, n) => {
    const start = text.length;
    text += String(value);
    if (value instanceof ComposedText) {
      quoted.push(...value.quoted.map(([from, to]): Span => [start + from, start + to]));
    } else if (typeof value === "string" && value !== "") quoted.push([start, text.length]);
    text += own[n + 1]!;
  });
  return new ComposedText(text, quoted);
}
