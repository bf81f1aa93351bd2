/** Structured log lines: JSON and logfmt, also behind the header of a container's or a system's log. */
import { type Fields, FORMS, levelNamed, type LineLevel, normalizeName } from "./_log_forms.ts";

/** A structured line, as far as it can be read. */
export interface LogRecord {
  /** The level that it names. */
  readonly level?: LineLevel;
  /** The level that the transport gives it. A level in its message counts more. */
  readonly transportLevel?: LineLevel;
  /** Its message, with what went wrong. */
  readonly message?: string;
  /** It says what went wrong. */
  readonly hasError: boolean;
}

/** Characters of a line within which a record is looked for. */
const MAX_CHARACTERS = 64 * 1024;
/** Records within records: that of a program in that of its container, in that of a cluster. */
const MAX_DEPTH = 4;
/** The header of a line of syslog, a container runtime or compose, before a record. */
const HEADER =
  /^(?:<\d{1,3}>)?(?:\S+ (?:stdout|stderr) [FP] |[\w.-]+ +\| |.{0,200}?[\w)\]/-]: ?)?(?=\{)/;
/** Pairs of an object that is cut, or that is no JSON. */
const JSON_PAIR =
  /["']([\w@.-]{1,64})["']\s*:\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|(-?\d+(?:\.\d+)?))/g;
const LOGFMT_PAIR = /(?<![\w."'])([A-Za-z_@][\w@.-]{0,63})=("(?:[^"\\]|\\.)*"|[^\s"]\S*|)/g;
const PAIR_START = /(?<![\w."'])[A-Za-z_@][\w@.-]{0,63}=/;
/** Nothing, or a header, before pairs. */
const BEFORE_LOGFMT = /^$|[\w)\]/-]: $|(?:stdout|stderr) [FP] $|^[\w.-]+ +\| $/;
/** Values that say that nothing went wrong. */
const NOTHING =
  /^\s*(?:0+(?:\.0+)?|null|nil|none|<nil>|undefined|false|ok|success|-|\[\]|\{\}|)\s*$/i;

/** Reads a line. @returns undefined: it is no structured one */
export function readRecord(line: string): LogRecord | undefined {
  const text = line.slice(0, MAX_CHARACTERS);
  const json = text.includes("{") ? readJson(text) : undefined;
  const fields = json ?? (text.includes("=") ? readLogfmt(text) : undefined);
  return fields && toRecord(fields, 0);
}

function readJson(text: string): Fields | undefined {
  const header = HEADER.exec(text);
  if (!header) return undefined;
  const body = text.slice(header[0].length).trim();
  const fields = parseObject(body);
  if (fields) return header[0] === "" || isRecord(fields) ? fields : undefined;
  const pairs = [...body.matchAll(JSON_PAIR)];
  const found: Record<string, unknown> = {};
  for (const [, name, double, single, number] of pairs) {
    found[name!] ??= number === undefined ? unescape(double ?? single!) : Number(number);
  }
  return isRecord(found) ? found : undefined;
}

function parseObject(text: string): Fields | undefined {
  if (!text.startsWith("{") || !text.endsWith("}")) return undefined;
  try {
    return JSON.parse(text) as Fields;
  } catch {
    return undefined;
  }
}

/** Reads pairs of names and values. A text with pairs in it counts where they have its level, or a message in quotes. */
function readLogfmt(text: string): Fields | undefined {
  const start = text.search(PAIR_START);
  if (start < 0) return undefined;
  const body = text.slice(start);
  const found: Record<string, unknown> = {};
  for (const [, name, value] of body.matchAll(LOGFMT_PAIR)) {
    found[name!] ??= value!.startsWith('"') ? unescape(value!.slice(1, -1)) : value;
  }
  const isWhole = BEFORE_LOGFMT.test(text.slice(0, start)) &&
    body.replace(LOGFMT_PAIR, "").trim() === "";
  if (isWhole && isRecord(found)) return found;
  const names = normalizeNames(found);
  const hasLevel = FORMS.level_fields.some((name) =>
    name.length > 1 && levelNamed(String(names.get(name) ?? "")) !== undefined
  );
  return hasLevel || /\b(?:msg|message)="/.test(body) ? found : undefined;
}

function unescape(text: string): string {
  return text.replace(
    /\\(.)/g,
    (_, letter: string) => letter === "n" ? "\n" : letter === "t" ? "\t" : letter,
  );
}

function isRecord(fields: Fields): boolean {
  const { level, transportLevel, message, hasError } = toRecord(fields, MAX_DEPTH);
  return level !== undefined || transportLevel !== undefined || message !== undefined || hasError;
}

function toRecord(fields: Fields, depth: number): LogRecord {
  const inner = findInner(fields, depth);
  const names = normalizeNames(fields);
  const own = ownMessage(names);
  const wrapped = own !== undefined && depth < MAX_DEPTH && /[{=]/.test(own)
    ? readWrapped(own, depth)
    : undefined;
  const error = FORMS.error_fields.map((name) => errorText(names.get(name)))
    .find((text) => text !== undefined);
  const message = wrapped?.message ?? own ?? inner?.message ??
    (error === undefined ? longestSentence(names) : undefined);
  return {
    level: ownLevel(names) ?? wrapped?.level ?? inner?.level,
    transportLevel: transportLevel(names) ?? wrapped?.transportLevel ?? inner?.transportLevel,
    message: error === undefined || message?.includes(error)
      ? message
      : message === undefined
      ? error
      : `${message}: ${error}`,
    hasError: error !== undefined || (wrapped ?? inner)?.hasError === true,
  };
}

/** Reads a record that is the message of another one. */
function readWrapped(text: string, depth: number): LogRecord | undefined {
  const line = text.trim();
  const fields = parseObject(line) ?? (line.includes("=") ? readLogfmt(line) : undefined);
  return fields && toRecord(fields, depth + 1);
}

/** Finds a record in an object or a list within another one. */
function findInner(fields: Fields, depth: number): LogRecord | undefined {
  if (depth >= MAX_DEPTH) return undefined;
  for (const [name, value] of Object.entries(fields)) {
    const first = Array.isArray(value) ? value[0] : value;
    if (!isObject(first) || !FORMS.containers.includes(normalizeName(name))) continue;
    if (isRecord(first) || findInner(first, depth + 1)) return toRecord(first, depth + 1);
  }
  return undefined;
}

function normalizeNames(fields: Fields): Map<string, unknown> {
  const names = new Map<string, unknown>();
  for (const [name, value] of Object.entries(fields)) {
    const normal = normalizeName(name);
    if (!names.has(normal)) names.set(normal, value);
    // `{"log":{"level":"error"}}` is `log.level`.
    if (isObject(value)) {
      for (const [part, inner] of Object.entries(value)) {
        const path = normal + normalizeName(part);
        if (!names.has(path)) names.set(path, inner);
      }
    }
  }
  return names;
}

function ownLevel(names: ReadonlyMap<string, unknown>): LineLevel | undefined {
  let isGiven = false;
  for (const name of FORMS.level_fields) {
    const value = plainValue(names.get(name));
    if (value === undefined || value === "") continue;
    const level = levelOfValue(name, value, names);
    if (level !== undefined) return level;
    isGiven ||= name.length > 1;
  }
  return isGiven ? "info" : undefined;
}

function transportLevel(names: ReadonlyMap<string, unknown>): LineLevel | undefined {
  for (const name of FORMS.transport_fields) {
    const value = plainValue(names.get(name));
    if (value !== undefined) return levelOfValue(name, value, names);
  }
  return undefined;
}

function levelOfValue(
  name: string,
  value: string | number,
  names: ReadonlyMap<string, unknown>,
): LineLevel | undefined {
  if (!/^\s*\d+\s*$/.test(String(value))) return levelNamed(String(value));
  const number = Number(value);
  const scale = FORMS.scales.find(({ fields, beside, from }) =>
    fields.includes(name) && number >= from && (!beside || beside.some((one) => names.has(one)))
  );
  if (!scale) return undefined;
  const { falling, least, warning, error } = scale;
  const isAt = (limit: number) => falling ? number <= limit && number >= least : number >= limit;
  return isAt(error) ? "error" : isAt(warning) ? "warning" : "info";
}

/** Returns a text or a number, also of `{"name":"ERROR"}` and `{"stringValue":"…"}`. */
function plainValue(value: unknown, depth = 0): string | number | undefined {
  if (typeof value === "string" || typeof value === "number") return value;
  if (!isObject(value) || depth >= MAX_DEPTH) return undefined;
  return plainValue(value.name ?? value.stringValue ?? value.value ?? value.label, depth + 1);
}

function ownMessage(names: ReadonlyMap<string, unknown>): string | undefined {
  for (const name of FORMS.message_fields) {
    const value = names.get(name);
    if (isBytes(value)) return Buffer.from(value).toString("utf8"); // of the journal
    const text = isObject(value) ? value.stringValue ?? value.text ?? value.formatted : value;
    if (typeof text === "string" && text.trim() !== "") return text.trim();
  }
  return undefined;
}

/** Returns the longest text of several words: the message, where its field has an unknown name. */
function longestSentence(names: ReadonlyMap<string, unknown>): string | undefined {
  return [...names.values()].filter((value): value is string =>
    typeof value === "string" && /[a-z] \S/i.test(value.trim())
  ).sort((a, b) => b.length - a.length)[0]?.trim();
}

/** Returns the first line of what went wrong; undefined: nothing did. */
function errorText(value: unknown): string | undefined {
  const first = Array.isArray(value) ? value[0] as unknown : value;
  const text = isObject(first)
    ? [first.type ?? first.class ?? first.name ?? first.kind, first.message ?? first.msg]
      .filter((part) => typeof part === "string").join(": ")
    : typeof first === "string"
    ? first
    : first === true
    ? "true"
    : "";
  return NOTHING.test(text) ? undefined : text.trim().split("\n")[0];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isBytes(value: unknown): value is number[] {
  return Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === "number");
}
