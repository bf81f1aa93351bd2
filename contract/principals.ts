/**
 * Returns true where two names denote one principal. Case, spaces, width, composition and invisible characters make no
 * difference, as issuers may have spelled a name in several ways.
 */
export function isSamePrincipal(a: string, b: string): boolean {
  return normalizePrincipal(a) === normalizePrincipal(b);
}

/** Returns the form of a name that is the same for all names of one principal. */
export const normalizePrincipal = (name: string): string =>
  name.replace(INVISIBLE, "").normalize("NFKC").replace(INVISIBLE, "").trim().replace(/\s+/g, " ")
    .toUpperCase().toLowerCase();

/** Control, format, private and unassigned characters, line ends, and characters that fonts show as nothing; no space. */
const INVISIBLE = /(?!\s)[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Characters that a name must not have: the invisible ones, and other spaces than U+0020. */
const FORBIDDEN = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\s/u;
/** Scripts that have letters of the same shape. */
const CONFUSABLE_SCRIPTS = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee"].map((script) => ({
  script,
  pattern: new RegExp(`\\p{Script=${script}}`, "u"),
}));

/**
 * Describes what makes a name look like others to the eye, and how to correct it.
 *
 * @returns undefined where nothing does
 */
export function nameProblem(name: string): string | undefined {
  const invisible = FORBIDDEN.exec(name)?.[0];
  if (invisible !== undefined) {
    const code = invisible.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    return `has a character that can't be seen (U+${code}); leave it out, as people tell names apart by eye`;
  }
  for (const word of name.split(" ")) {
    const scripts = CONFUSABLE_SCRIPTS.filter(({ pattern }) => pattern.test(word))
      .map(({ script }) => script);
    if (scripts.length > 1) {
      const names = scripts.join(" and ");
      return `mixes ${names} letters, which look alike, in "${word}"; write the word in one script`;
    }
  }
  return undefined;
}
