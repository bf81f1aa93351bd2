import { stripVTControlCharacters } from "node:util";
import { FORMS, levelNamed, type LineLevel } from "./_log_forms.ts";
import { readRecord } from "./_log_record.ts";
export type { LineLevel } from "./_log_forms.ts";

/** Maximum of characters from the beginning of a line in which a level is looked for. */
const LEVEL_WITHIN = 160;
/** Maximum of characters in which words are looked for. */
const WORDS_WITHIN = 8_000;

/** Names of levels in capitals. */
const IN_CAPITALS =
  /(?<![\w./-])(TRACE|DEBUG|INFO|INFORMATION|NOTICE|WARN(?:ING)?|ERR(?:OR)?|SEVERE|FATAL|CRIT(?:ICAL)?|ALERT|EMERG(?:ENCY)?|PANIC|DPANIC)(?![\w./=-])/;
/** Names of levels between brackets, bars, tabs, commas or dashes. */
const BETWEEN_MARKS =
  /(?:[[|<\t,]|^| - )\s*(?:[\w.-]+:)?(trace\d?|verbose|debug|info|information|note|notice|warn|warning|err|error|severe|fatal|crit|critical|alert|emerg|emergency|panic|dpanic)\s*(?:[\]|>\t,]| - )/i;
/** Names of levels after a header. */
const AT_START =
  /^\W*(trace|debug|info|information|warn|warning|err|error|fatal)(?:\[\d*\])?\W*$|^\W*(verbose|notice|note|severe|critical|crit|alert|emerg|emergency|panic)\W+$/i;
/** Words of a header: with digits, of a day or a month, a zone, the name of a program, or no letters at all. */
const OF_HEADER = /\d|^[A-Z][a-z]{2},?$|^(?:UTC|GMT|[AP]M)\W?$|[\w)\]]:$|^\W*$/;
const MAX_HEADER_WORDS = 12;
/** Header of a container's log, of the journal or of compose. */
const WRAPPER = /^(?:<\d{1,3}>(?:1 )?|\S+ (?:stdout|stderr) [FP] |[\w.-]+ +\| )/;
const PRI = /^<(\d{1,3})>/;

/** Words of a line without a level that reports an error. */
const ERROR_WORDS =
  /(?<![\w./])(?:errors?|fatal|panic(?:ked)?|critical|exception|traceback|segfault|core dumped|out of memory|unhandled)(?![\w/-]|\.\w)/i;
const EXCEPTION = /(?:^|[\s:])(?:[\w$]+\.)*[A-Z][\w$]*(?:Exception|Error)(?=:|\s|$)/;
const WARNING_WORDS =
  /(?<![\w./])(?:warn(?:ing)?|failed|failure|refused|denied|timed? ?out|deprecated|unreachable|invalid)(?![\w/-]|\.\w)/i;
/** Counts and results of nothing: `no errors`, `0 failed`, `errors=0`, `"error":null`. */
const NONE =
  /\b(?:no|0+|without|zero) (?:\w+ )?(?:errors?|warnings?|failures?|failed|exceptions?)\b|\b(?:errors?|err|warnings?|fail(?:ed|ures?|s)?|exceptions?)"?\s*[=:]\s*(?:"\s*"|0+(?:\.0+)?|null|nil|<nil>|none|false|ok|\[\]|\{\})(?![\w.])/gi;
/** Status of a response in the common log format of web servers. */
const RESPONSE_STATUS = /" ([1-5])\d\d (?:\d+|-)/;

/** Returns the level of a line: the one that it names, or else the one that its words suggest. */
export function levelOf(line: string): LineLevel {
  const text = stripVTControlCharacters(line);
  const record = readRecord(text);
  const words = record?.message ?? text;
  const named = record?.level ?? namedLevel(words) ??
    record?.transportLevel ?? priorityLevel(text);
  if (named !== undefined) return named;
  if (record?.hasError) return "error";
  return suggestedLevel(words);
}

/** Returns the level that a text names; undefined: it names none. */
function namedLevel(line: string): LineLevel | undefined {
  const status = RESPONSE_STATUS.exec(line)?.[1];
  if (status) return status === "5" ? "error" : "info";
  const text = line.replace(WRAPPER, "");
  for (const form of FORMS.text) {
    const groups = form.exec(text.slice(0, LEVEL_WITHIN));
    if (!groups) continue;
    const { level, error, warning } = groups.groups ?? {};
    if (level !== undefined) return levelNamed(level) ?? "info";
    return error !== undefined ? "error" : warning !== undefined ? "warning" : "info";
  }
  const head = text.slice(0, LEVEL_WITHIN);
  const name = levelAfterHeader(head) ??
    [IN_CAPITALS.exec(head), BETWEEN_MARKS.exec(head)].filter((match) => match !== null)
      .sort((a, b) => a.index - b.index)[0]?.[1];
  return name === undefined ? undefined : levelNamed(name);
}

/** Returns the name of a level that comes first, or after times, numbers, brackets, a host and a program. */
function levelAfterHeader(head: string): string | undefined {
  const words = head.replace(/\[[^\]]*\d[^\]]*\](?!:)/g, "0").split(/\s+/, MAX_HEADER_WORDS);
  for (const [i, word] of words.entries()) {
    const name = AT_START.exec(word)?.slice(1).find(Boolean);
    // As the first word of a message, a plain "error" is no name of a level.
    const isWord = /^(?:err|error|fatal)$/.test(word) && !/\d/.test(words[i - 1] ?? "");
    if (name !== undefined) return isWord ? undefined : name;
    const isHost = OF_HEADER.test(words[i - 1] ?? "") && /\]?:$/.test(words[i + 1] ?? "");
    if (!OF_HEADER.test(word) && !isHost) return undefined;
  }
  return undefined;
}

/** Returns the level of the number before a line of syslog or of a systemd service: `<3>`, `<11>`. */
function priorityLevel(line: string): LineLevel | undefined {
  const number = PRI.exec(line)?.[1];
  if (number === undefined) return undefined;
  const severity = Number(number) % 8;
  return severity <= 3 ? "error" : severity === 4 ? "warning" : "info";
}

function suggestedLevel(line: string): LineLevel {
  const text = line.slice(0, WORDS_WITHIN).replace(NONE, "");
  if (ERROR_WORDS.test(text) || EXCEPTION.test(text)) return "error";
  return WARNING_WORDS.test(text) ? "warning" : "info";
}
