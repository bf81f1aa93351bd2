/** Level of a line. */
export type LineLevel = "error" | "warning" | "info";

/** Maximum of characters from the beginning of a line in which a level is looked for. */
const LEVEL_WITHIN = 160;

/** Names of levels in capitals, in Apache's brackets, and in a `level` field. */
const LEVEL_IN_CAPITALS = anyOf([
  "TRACE",
  "DEBUG",
  "INFO",
  "NOTICE",
  "WARN(?:ING)?",
  "ERR(?:OR)?",
  "SEVERE",
  "FATAL",
  "CRIT(?:ICAL)?",
  "ALERT",
  "EMERG(?:ENCY)?",
  "PANIC",
]);
const LEVEL_IN_BRACKETS = /\[(?:\w+:)?(trace\d?|debug|info|notice|warn|error|crit|alert|emerg)\]/;
const LEVEL_FIELD = /"?\blevel"?\s*[=:]\s*"?([a-zA-Z]+|\d+)/;
/** The first of the three in a line counts. */
const NAMED_LEVEL = new RegExp(
  [LEVEL_IN_CAPITALS, LEVEL_IN_BRACKETS, LEVEL_FIELD].map(({ source }) => source).join("|"),
);
/** The numbers are those of pino. */
const ERROR_NAMES = new Set(
  "err error severe fatal crit critical alert emerg emergency panic 50 60".split(" "),
);
const WARNING_NAMES = new Set(["warn", "warning", "40"]);

/** Words of a line without a level that reports an error. */
const ERROR_WORDS = anyOf([
  "error",
  "fatal",
  "panic",
  "critical",
  "exception",
  "traceback",
  "segfault",
  "core dumped",
  "out of memory",
  "unhandled",
], "i");
const WARNING_WORDS = anyOf([
  "warn(?:ing)?",
  "failed",
  "failure",
  "refused",
  "denied",
  "timed? ?out",
  "deprecated",
  "unreachable",
  "invalid",
], "i");
const NEGATION = /\b(no|0|without|zero) (error|warning|failure|exception)/i;
/** Status of a response in the common log format of web servers. */
const RESPONSE_STATUS = /" ([1-5])\d\d (?:\d+|-)/;

/** Returns the level of a line: the one that it names, or else the one that its words suggest. */
export function levelOf(line: string): LineLevel {
  const status = RESPONSE_STATUS.exec(line)?.[1];
  if (status) return status === "5" ? "error" : "info";
  const named = NAMED_LEVEL.exec(line.slice(0, LEVEL_WITHIN))?.slice(1).find(Boolean)
    ?.toLowerCase();
  if (named) {
    return ERROR_NAMES.has(named) ? "error" : WARNING_NAMES.has(named) ? "warning" : "info";
  }
  if (NEGATION.test(line)) return "info";
  return ERROR_WORDS.test(line) ? "error" : WARNING_WORDS.test(line) ? "warning" : "info";
}

/** Builds a pattern that matches each of these words, as a whole. */
function anyOf(words: readonly string[], flags = ""): RegExp {
  return new RegExp(`\\b(${words.join("|")})\\b`, flags);
}
