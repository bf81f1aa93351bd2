/** What terminals take for orders. */
const ESCAPES = new RegExp(
  "\u001b(?:\\[[0-9;?]*[ -/]*[@-~]|\\][^\u0007\u001b]*(?:\u0007|\u001b\\\\)?|.)?",
  "g",
);
/**
 * What can't be seen: bidirectional marks, characters of no width, variation selectors that carry data, the block of
 * tags, characters for private use that fonts leave out, and control characters but tabulator and line feed.
 */
const HIDDEN =
  // deno-lint-ignore no-control-regex -- these are what is taken out
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u034F\u061C\u115F\u1160\u17B4\u17B5\u180B-\u180F\u200B-\u200F\u2028-\u202E\u2060-\u206F\u2800\u3164\uFEFF\uFFA0\uFFF0-\uFFFB]|[\uFE00-\uFE0E]|\uFE0F(?=[\uFE00-\uFE0F])|[\u{1D173}-\u{1D17A}\u{E0000}-\u{E0FFF}\u{F0000}-\u{10FFFF}]/gu;

/** A text without what can't be seen. */
export function stripInvisible(text: string): string {
  return text.replace(/\r\n?|[\u0085\u2028\u2029]/g, "\n").replace(ESCAPES, "").replace(HIDDEN, "");
}

/**
 * A value with what can't be seen in its texts named in its place, `⟨U+202E⟩`, for people who are to decide on exactly
 * that.
 */
export function escapeInvisible<T>(value: T): T {
  return open(value) as T;
}

function open(value: unknown): unknown {
  if (typeof value === "string") return value.replace(HIDDEN, (one) => `⟨U+${hexOf(one)}⟩`);
  if (Array.isArray(value)) return value.map(open);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, one]) => [escapeInvisible(name), open(one)]),
  );
}

const hexOf = (one: string) => one.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
