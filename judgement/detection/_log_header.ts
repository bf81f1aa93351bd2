/**
 * The columns before the messages of a log, learned from its lines: time, host, process, level. A column belongs to them if
 * nearly all lines have a field of the same kind in it.
 */
import { VALUE } from "./_log_words.ts";

/** Kinds of fields; one field may be of several. */
const KINDS = ["time", "level", "number", "group", "colon", "mark", "apart", "name"] as const;
type FieldKind = typeof KINDS[number];

/** Fields of lines, counted by column and kind. */
export interface ColumnCounts {
  /** Number of lines that were looked at. */
  readonly lines: number;
  /** Number of those with a time or a level. The others, such as stack traces, have no columns. */
  readonly headed: number;
  /** For each column, how many lines have a field of each kind. */
  readonly columns: readonly (readonly number[])[];
}

/** Columns before the message. */
export interface LogHeader {
  /** Last column with a time or a level. A line without it has no header. */
  readonly anchor: { readonly column: number; readonly kind: "time" | "level" };
  /** `field`: one field; `stop`: all fields through the next one that ends a name, if one is near. */
  readonly steps: readonly ("field" | "stop")[];
}

export const NO_COLUMNS: ColumnCounts = { lines: 0, headed: 0, columns: [] };

/** Number of lines from which on the columns are known. */
const HEADER_LINES = 100;
/** So many times as many lines as the columns were learned from must show others, for these to be learned. */
const TIMES_TO_RELEARN = 2;
/** Maximum of lines of one batch that are looked at. */
const MAX_LINES = 300;
const MAX_COLUMNS = 12;
/** Share of lines that have the same kind of field in a column of the header. */
const MIN_SHARE = 0.8;
/** Number of fields that a name may have, such as that of a host and a program. */
const MAX_NAME_FIELDS = 3;
/** A longer field is looked at up to here. */
const MAX_FIELD_CHARACTERS = 300;
/** Longer brackets are no field. */
const MAX_GROUP_CHARACTERS = 200;

const TIME = new RegExp(
  [
    /^\W{0,2}\d{1,4}([-/.])\d{1,2}\1\d{1,4}(?:[-T_:]\d\S*)?\W*$/, // a date, perhaps with a time
    /^\W?\d\d[-./]\d\d$/,
    /^\W?\d{1,2}:\d\d(?::\d\d)?(?:[.,:]\d+)?(?:Z|[+-]\d\d:?\d\d)?\W?$/,
    /^\d{8}[-T_]\d/,
    /^[A-Z]\d{4}$/,
    /^\W?1\d{9}(?:\d{3}){0,2}(?:\.\d+)?\W?$/,
    /^\W?(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun),?$/,
    /^\[.*\d\d:\d\d:\d\d.*\]/,
    /^\[ *\d+\.\d+\]$/,
  ].map(({ source }) => source).join("|"),
);
const LEVEL =
  /^\W{0,2}(?:\w+:)?(?:trace\d?|verbose|debug|info|information|notice|log|warn|warning|err|error|severe|failure|fatal|crit|critical|alert|emerg|emergency|panic|[VDIWEF])\W{0,2}$/i;
const PATTERNS: Readonly<Record<Exclude<FieldKind, "apart">, RegExp>> = {
  time: TIME,
  level: LEVEL,
  number: /^\W*\d[\d.,:#-]*\W*$/,
  group: /^\(.*\)$/,
  colon: /\w\W{0,3}:$/,
  mark: /\]$|^\W+$/,
  name: /^[A-Za-z_$][\w$-]*(?:\.[\w$-]+){2,}$/,
};

/** A field of a line, and what follows. */
interface Field {
  readonly text: string;
  /** True: more than one space follows, or a tab or a bar. */
  readonly isApart: boolean;
  /** Where the next field begins. */
  readonly next: number;
}

/** Counts from which the columns follow, and those of the lines since then. */
export interface LearnedColumns {
  readonly columns: ColumnCounts;
  readonly recent: ColumnCounts;
}

/**
 * Learns the columns of a log from its next lines. Once there are enough lines, the columns stay as long as newer lines have
 * the same. Others are learned from twice as many lines as these, so that a log of two forms does not change all the time.
 */
export function learnColumns(
  { columns, recent }: LearnedColumns,
  lines: readonly string[],
): LearnedColumns {
  if (columns.lines < HEADER_LINES) return { columns: countColumns(columns, lines), recent };
  const newer = countColumns(recent, lines);
  if (newer.headed < Math.max(HEADER_LINES, TIMES_TO_RELEARN * columns.headed)) {
    return { columns, recent: newer };
  }
  const isSame = isSameHeader(findHeader(columns), findHeader(newer));
  return { columns: isSame ? columns : newer, recent: NO_COLUMNS };
}

/** Returns whether two headers have the same columns. */
export function isSameHeader(one: LogHeader | undefined, other: LogHeader | undefined): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** Counts the fields of lines. */
function countColumns(counts: ColumnCounts, lines: readonly string[]): ColumnCounts {
  const columns = Array.from(
    { length: MAX_COLUMNS },
    (_, i) => [...counts.columns[i] ?? KINDS.map(() => 0)],
  );
  let headed = counts.headed;
  const step = Math.ceil(lines.length / MAX_LINES);
  for (let i = 0; i < lines.length; i += step) {
    const kinds = readFields(lines[i]!).map(kindsOf);
    if (!kinds.some((one) => one.has("time") || one.has("level"))) continue;
    headed++;
    for (const [column, one] of kinds.entries()) {
      for (const kind of one) columns[column]![KINDS.indexOf(kind)]!++;
    }
  }
  return { lines: counts.lines + lines.length, headed, columns };
}

/** Returns the header that the counts show; undefined: lines have none. */
export function findHeader({ headed, columns }: ColumnCounts): LogHeader | undefined {
  const share = (kind: FieldKind, column: number) =>
    (columns[column]?.[KINDS.indexOf(kind)] ?? 0) / headed;
  const has = (kind: FieldKind, column: number) => share(kind, column) >= MIN_SHARE;
  let anchor: LogHeader["anchor"] | undefined;
  for (let column = 0; column < columns.length; column++) {
    if (has("time", column)) anchor = { column, kind: "time" };
    else if (has("level", column)) anchor = { column, kind: "level" };
  }
  if (!anchor) return undefined;
  const steps = Array<"field" | "stop">(anchor.column + 1).fill("field");
  for (let column = anchor.column + 1; column < columns.length;) {
    const near = Array.from(
      { length: MAX_NAME_FIELDS },
      (_, i) => share("colon", column + i) + share("mark", column + i),
    );
    const most = Math.max(...near);
    if (most >= MIN_SHARE / 2 && near.reduce((sum, one) => sum + one) >= MIN_SHARE) {
      steps.push("stop");
      column += near.indexOf(most) + 1;
      if (share("colon", column - 1) >= most / 2) break; // the message follows
    } else if ((["number", "group", "apart", "name"] as const).some((kind) => has(kind, column))) {
      steps.push("field");
      column++;
    } else break;
  }
  return { anchor, steps };
}

/** Returns where the message of a line begins. @param line a line, or the text of a template */
export function messageStart(line: string, { anchor, steps }: LogHeader): number {
  let at = /^[\s|]*/.exec(line)![0].length;
  for (const [column, step] of steps.entries()) {
    if (step === "field") {
      const { text, next } = readField(line, at);
      if (column === anchor.column && text !== VALUE && !PATTERNS[anchor.kind].test(text)) return 0;
      at = next;
    } else at = afterStop(line, at);
  }
  return at;
}

function afterStop(line: string, from: number): number {
  for (let at = from, i = 0; i < MAX_NAME_FIELDS; i++) {
    const { text, next } = readField(line, at);
    if (isStop(text)) return next;
    at = next;
  }
  return from;
}

/** Returns whether a field ends the name of a process or of a part: `sshd[17]:`, `main.go:12]`, `[main]`, `-`. */
function isStop(text: string): boolean {
  const last = text.at(-1);
  return last === ":" || last === "]" || PATTERNS.mark.test(text);
}

function kindsOf({ text, isApart }: Field): Set<FieldKind> {
  return new Set(
    KINDS.filter((kind) => kind === "apart" ? isApart : PATTERNS[kind].test(text)),
  );
}

function readFields(line: string): Field[] {
  const fields: Field[] = [];
  for (let at = 0; fields.length < MAX_COLUMNS && at < line.length;) {
    const field = readField(line, at);
    if (field.text !== "") fields.push(field);
    at = field.next;
  }
  return fields;
}

/** Reads a field: up to a space or a bar, but whole brackets. */
function readField(line: string, from: number): Field {
  let end = from;
  const closing = line[from] === "[" ? "]" : line[from] === "(" ? ")" : undefined;
  if (closing) {
    const at = line.indexOf(closing, from);
    if (at > 0 && at - from <= MAX_GROUP_CHARACTERS) end = at + 1;
  }
  while (end < line.length && !isSeparator(line.charCodeAt(end))) end++;
  let next = end;
  while (next < line.length && isSeparator(line.charCodeAt(next))) next++;
  const isApart = next < line.length && line.slice(end, next) !== " ";
  return { text: line.slice(from, Math.min(end, from + MAX_FIELD_CHARACTERS)), isApart, next };
}

/** A space, a tab or a bar. */
function isSeparator(code: number): boolean {
  return code === 32 || code === 9 || code === 124;
}
