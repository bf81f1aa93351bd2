/** Names of who holds a key, which people tell apart by eye. */

/**
 * Whether two names are one holder's: capitals, spaces, wide or composed letters, and what can't be seen, make no
 * difference. Issuers may have spelled a name in several ways.
 */
export function isSamePrincipal(a: string, b: string): boolean {
  return plain(a) === plain(b);
}

const plain = (name: string) =>
  name.replace(UNSEEN, "").normalize("NFKC").replace(UNSEEN, "").trim().replace(/\s+/g, " ")
    .toUpperCase().toLowerCase();

/** Control, format, private and unassigned characters, line ends, and what fonts show as nothing; no space. */
const UNSEEN = /(?!\s)[\p{C}\p{Default_Ignorable_Code_Point}\u2800]/gu;
/** Characters that no name has; other spaces than the usual one look like it. */
const NO_NAME = /[\p{C}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\s/u;
/** Scripts with letters that look like those of others. */
const ALIKE = ["Latin", "Cyrillic", "Greek", "Armenian", "Cherokee"].map((script) => ({
  script,
  has: new RegExp(`\\p{Script=${script}}`, "u"),
}));

/** Why people can't tell a name from others by eye, with what would be right; undefined: they can. */
export function nameProblem(name: string): string | undefined {
  const hidden = NO_NAME.exec(name)?.[0];
  if (hidden !== undefined) {
    const code = hidden.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    return `has a character that can't be seen (U+${code}); leave it out, as others have to tell names apart by eye`;
  }
  for (const word of name.split(" ")) {
    const scripts = ALIKE.filter(({ has }) => has.test(word)).map(({ script }) => script);
    if (scripts.length > 1) {
      return `mixes ${
        scripts.join(" and ")
      } letters, which look alike, in "${word}"; write the word in one script`;
    }
  }
  return undefined;
}
