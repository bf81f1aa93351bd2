/**
 * How the engine reads a text: its words in a plain form that five languages share, and its clauses, each marked
 * where it says that something is in order.
 */

/** Longest text that is looked at, in UTF-16 units. The rest adds nothing but time. */
export const LONGEST = 4_000;
const WORD = /[\p{L}\p{N}]+/gu;
/** Characters that are not seen, which split words for a program but not for a reader. */
const HIDDEN = /[\p{Cf}\u034f\u115f\u1160\u3164\uffa0]/gu;
/** Camel case of two parts, which are often a name: GitHub is read as `git hub github`. */
const NAME = /(?<![\p{L}\p{N}])(\p{Lu}\p{Ll}+)(\p{Lu}\p{Ll}+)(?![\p{L}\p{N}])/gu;
/** Numbers that mean something by themselves: HTTP and SMTP answers, exit codes, well-known ports. */
const TELLING =
  /^(?:[1-5]\d\d|22|25|53|80|1433|1521|3306|3389|5432|5672|6379|8443|9092|9200|27017)$/;

/** A stretch of a text between full stops, commas and words such as "but". */
export interface Clause {
  /** As {@linkcode wordsOf} gives them. */
  readonly words: readonly string[];
  /** It says that the thing it names works, or is not to blame. */
  readonly fine: boolean;
}

/** A text without marks on letters, hidden characters and capitals; `_` and camel case part words. */
function plain(text: string): string {
  return text.slice(0, LONGEST).replace(HIDDEN, "").replaceAll("İ", "I")
    .normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase()
    .replaceAll("ı", "i").replaceAll("ß", "ss").replaceAll("œ", "oe");
}

/** Words of a text in plain form; numbers that only count are `#`. */
export function wordsOf(text: string): string[] {
  const parted = text.slice(0, LONGEST)
    .replace(NAME, (name, first, second) => `${first} ${second} ${name.toLowerCase()}`)
    .replace(/(\p{Ll})(\p{Lu}\p{Ll})/gu, "$1 $2");
  const words = plain(parted).match(WORD) ?? [];
  return words.map((word) =>
    word.length > 40
      ? "#long"
      : /^\d+$/.test(word)
      ? TELLING.test(word) ? word : "#"
      : /\d{4}/.test(word)
      ? "#id"
      : word
  );
}

const BREAK =
  /[\n;!?]+|\.(?=\s|$)|,\s|\s[-–—]+\s|[()"“”„«»]|\s(?=(?:but|however|although|while|whereas|aber|doch|jedoch|obwohl|während|mais|cependant|alors que|pero|aunque|mientras|ama|fakat|ancak)\s)/u;
const FINE = new RegExp(
  [
    /\b(?:works?|working|fine|ok|okay|healthy|unaffected|untouched|not affected|in order|intact|green|alright|all right|good|innocent|not involved|no problems?|no issues?|had nothing to do|ruled out|checked)\b/,
    /\b(?:not|isn t|never|kein|keine|nicht)\s(?:a|an|the|our|das|die|der|am|an der)\s(?:network|dns|database|db|server|disk|storage|firewall|certificate|vpn|printer|hardware|password|mail|cpu|netz|netzwerk|datenbank|speicher|platte|zertifikat|drucker)\b/,
    /\b(?:funktioniert|funktionieren|in ordnung|lauft|laufen|geht|gehen|klappt|unauffallig|liegt nicht an|nicht betroffen|alles gut|gesund)\b/,
    /\b(?:fonctionnent?|marchent?|va bien|vont bien|est bon|correcte?s?|n est pas|ne sont pas|rien a voir|intacte?s?|repond bien)\b/,
    /\b(?:funcionan?|va bien|van bien|esta bien|estan bien|no es|no son|correct[oa]s?|en orden|nada que ver|responden? bien)\b/,
    /\b(?:calisiyor|sorun yok|sorunsuz|saglam|normal|saglikli|etkilenmedi|duzgun|ilgisi yok|degil)\b/,
  ].map(({ source }) => source).join("|"),
);
/** What takes back that something is in order: "doesn't work", "works on one of five only". */
const NOT_FINE = new RegExp(
  [
    /\b(?:not|no longer|don t|doesn t|didn t|isn t|won t|cannot|can t|never|stopped|nothing|nobody|none|neither|half|barely|only)\s(?:\w+\s){0,2}(?:works?|working|fine|ok|okay|healthy|good|green)\b/,
    /\b(?:nicht|nichts|nie|kaum|niemand|keiner)(?:\s\w+){0,2}$|\b(?:funktioniert|lauft|geht|gehen|klappt|funktionieren)\s(?:\w+\s){0,3}(?:nicht|nichts|kaum|nur)\b|\b(?:nichts|nicht mehr|nix)\s(?:\w+\s)?(?:geht|lauft|funktioniert)\b/,
    /\b(?:ne|n)\s(?:\w+\s)?(?:fonctionnent?|marchent?|va|vont)\b|\brien ne\b|\bplus\s(?:rien|aucun)/,
    /\b(?:no|nada|ya no|tampoco)\s(?:\w+\s)?(?:funcionan?|va|van)\b/,
    /\b(?:calismiyor|acilmiyor|gitmiyor|gelmiyor|normal degil)\b/,
    /\b(?:checked|until|since|before|normally|usually|test failed)\s\w+/,
  ].map(({ source }) => source).join("|"),
);

/** Clauses of a text, in order. A list ("network, DNS and disks are fine") is one. */
export function clausesOf(text: string): Clause[] {
  const pieces: string[][] = [];
  let open: string[] = [];
  for (const piece of text.slice(0, LONGEST).split(BREAK)) {
    open = [...open, ...wordsOf(piece)];
    if (open.length < 3) continue;
    pieces.push(open);
    open = [];
  }
  if (open.length > 0) pieces.push(open);
  return pieces.map((words) => {
    const said = words.join(" ");
    return { words, fine: words.length <= 16 && FINE.test(said) && !NOT_FINE.test(said) };
  });
}
