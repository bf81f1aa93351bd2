/** Words and expressions by which the text of claims is checked. */

/** Beginnings of a sentence, or of a part of one. */
const BEGINNING = /(?:^|[.;:!?]\s+|,\s+(?:and\s+)?(?:then\s+)?)["'“`(]*/.source;

/** Expressions that may come before the verb of an instruction. */
const LEAD_INS = [
  "please\\s+",
  "then\\s+",
  "now\\s+",
  "next,?\\s+",
  "first,?\\s+",
  "fix:?\\s+",
  "to fix (?:it|this|that),?\\s+",
  "you (?:should|must|need to)\\s+",
];

/** Verbs of instructions about systems. */
const VERBS = [
  "run",
  "execute",
  "call",
  "invoke",
  "trigger",
  "restart",
  "reboot",
  "kill",
  "delete",
  "remove",
  "drop",
  "truncate",
  "wipe",
  "approve",
  "grant",
  "disable",
  "enable",
  "install",
  "download",
  "curl",
  "wget",
  "chmod",
  "sudo",
  "roll back",
  "rollback",
  "apply",
  "scale",
  "open",
  "click",
  "send",
  "type",
];

const OBLIGATION = /\b(?:you|operators?|someone|people) (?:should|must|need to|have to)\b/.source;

/** Matches a sentence that says what to do. "Type of" is no instruction. */
export const INSTRUCTION = new RegExp(
  `${BEGINNING}(?:${LEAD_INS.join("|")})*(?:${VERBS.join("|")})\\s+(?!of\\b)|${OBLIGATION}`,
  "i",
);

/** Matches a URL or an e-mail address. */
export const ADDRESS = /[a-z][a-z0-9+.-]*:\/\/|\bwww\.|[\w.+-]+@[\w-]+\.\w/i;

/** Matches the numbers by which a model marks its citations, like `[3]` or `[1, 2]`. */
export const CITATION_MARK = /\s*\[\s*\d{1,4}(?:\s*,\s*\d{1,4})*\s*\]/g;

/** Matches words that look like names: ids, numbers and mixed case, then paths, files and hosts. */
export const NAME_SHAPES = [/\d|_|[a-z][A-Z]/, /^[/\\~]\w|\/\w+\/|\w{2,}\.\w{2,}/];

/** Matches the text after a name if the name continues, as in `db` and `db-1`. */
export const CONTINUES_AFTER = /^(?:[\p{L}\p{N}_]|[-.][\p{L}\p{N}_]|,\d)/u;

/** Matches the text before a name if the name began earlier, as in `1` and `db-1`. */
export const CONTINUES_BEFORE = /(?:[\p{L}\p{N}_]|[\p{L}\p{N}_][-.]|\d,)$/u;
