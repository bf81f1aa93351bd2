/** Finding a person in texts and JSON, and erasing them there. */

/** Text in place of one that was about an erased person. */
export const ERASED = "[erased]";

/** A person to erase, by everything that they were ever called in a tenant's contacts. */
export interface Person {
  /** Null: no contact has the address. */
  readonly contactId: string | null;
  readonly emails: readonly string[];
  readonly phones: readonly string[];
  readonly names: readonly string[];
}

/** Finds and erases one person. */
export interface Eraser {
  /** Patterns for `ILIKE`, which find every row that may be about them. */
  readonly patterns: readonly string[];
  /** Returns whether a text names them: by id, address, telephone, or a name of several words. */
  isAbout(text: string): boolean;
  /** Returns a text without their names, addresses and telephones. */
  eraseIn(text: string): string;
  /** Returns a JSON text in which every object that names them has lost its texts. @param isTheirs all of it is about them */
  eraseInJson(json: string, isTheirs: boolean): string;
}

/** Values that stay in an object about an erased person: ids, codes, times. */
const KEPT =
  /^(?:[a-z0-9_.:-]{1,64}|[A-Z]{2,5}-[0-9a-f]{12}|\d{4}-\d\d-\d\dT[\d:.]+(?:Z|[+-]\d\d:\d\d))$/;

/** Creates the eraser of a person. */
export function openEraser({ contactId, emails, phones, names }: Person): Eraser {
  // A name of one word is as likely somebody else's, so it is erased only where something else names the person.
  const fullNames = names.filter((name) => /\S\s+\S/.test(name));
  const personal = [...emails, ...phones, ...fullNames];
  const finding = [...personal, ...contactId === null ? [] : [contactId]];
  const isAbout = matcher(finding);
  const isPersonal = matcher([...personal, ...names]);
  const strict = expressionOf(personal);

  function eraseValue(value: unknown, isTheirs: boolean): unknown {
    if (typeof value === "string") return eraseString(value, isTheirs);
    if (Array.isArray(value)) return value.map((entry) => eraseValue(entry, isTheirs));
    if (typeof value !== "object" || value === null) return value;
    const isTouched = isTheirs ||
      Object.values(value).flat().some((entry) => typeof entry === "string" && isAbout(entry));
    return Object.fromEntries(
      Object.entries(value).map(([name, entry]) => [
        isAbout(name) ? ERASED : name,
        isTouched && name === "terms" ? {} : eraseValue(entry, isTouched), // of an index: their words
      ]),
    );
  }

  function eraseString(text: string, isTheirs: boolean): string {
    if (text === contactId) return text;
    if (isTheirs) return isPersonal(text) || !KEPT.test(text) ? ERASED : text;
    return isAbout(text) ? ERASED : text;
  }

  return {
    patterns: [...new Set(finding.flatMap(patternsOf))],
    isAbout,
    eraseIn: (text) => strict ? text.normalize("NFC").replace(strict, ERASED) : text,
    eraseInJson(json, isTheirs) {
      return JSON.stringify(eraseValue(JSON.parse(json), isTheirs));
    },
  };
}

/** Returns patterns of a text. The database may fold the case of ASCII letters alone. */
function patternsOf(text: string): string[] {
  return [text, text.toLowerCase(), text.toUpperCase(), text.normalize("NFD")].flatMap(formsOf)
    .map((one) => `%${one.replace(/[\\%_]/g, "\\$&")}%`);
}

/** Returns a text as it is, as it is in JSON, and in JSON within JSON. */
function formsOf(text: string): string[] {
  const inJson = (one: string) => JSON.stringify(one).slice(1, -1);
  return [text, inJson(text), inJson(inJson(text))];
}

function matcher(texts: readonly string[]): (text: string) => boolean {
  const expression = expressionOf(texts);
  return (text) => expression !== undefined && text.normalize("NFC").search(expression) !== -1;
}

/** Returns an expression of whole words: `ada@example.com` is not in `granada@example.com`. */
function expressionOf(texts: readonly string[]): RegExp | undefined {
  if (texts.length === 0) return undefined;
  const escaped = [...new Set(texts.flatMap(formsOf))].sort((a, b) => b.length - a.length)
    .map((text) => text.normalize("NFC").replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  return new RegExp(`(?<![\\p{L}\\p{N}._+-])(?:${escaped.join("|")})(?![\\p{L}\\p{N}])`, "giu");
}
