/** Levels of arrays and objects within each other. */
export const MAX_DEPTH = 64;

/** A value or a JSON text has no canonical form. */
export class NotCanonical extends Error {
  override readonly name = "NotCanonical";
}

/**
 * Returns the canonical JSON of a value: keys in code-point order, no spaces, non-ASCII kept; the same bytes that
 * Python's `json.dumps(v, sort_keys=True, separators=(",", ":"), ensure_ascii=False)` gives for
 * `JSON.stringify(value)`.
 *
 * @throws {NotCanonical} lone surrogates, U+0000, numbers that are not finite, too deep, or not JSON at all
 */
export function canonicalize(value: unknown): string {
  return print(value, 0);
}

/**
 * Returns the fields of an object, each with the canonical text of its value; those that are undefined are left out.
 *
 * @throws {NotCanonical} as {@linkcode canonicalize}
 */
export function canonicalizeValues(value: Readonly<Record<string, unknown>>): Map<string, string> {
  const fields = new Map<string, string>();
  for (const [key, item] of Object.entries(value)) {
    if (item !== undefined) fields.set(key, print(item, 1));
  }
  return fields;
}

function print(value: unknown, depth: number): string {
  switch (typeof value) {
    case "string":
      return printString(value);
    case "number":
      return printNumber(value);
    case "boolean":
      return value ? "true" : "false";
    case "object":
      if (value === null) return "null";
      if (depth >= MAX_DEPTH) throw new NotCanonical(`Nested deeper than ${MAX_DEPTH} levels`);
      return Array.isArray(value)
        ? printArray(value, depth + 1)
        : printObject(value as Record<string, unknown>, depth + 1);
    default:
      throw new NotCanonical(`A value of type ${typeof value} is not JSON`);
  }
}

function printArray(items: readonly unknown[], depth: number): string {
  let text = "[";
  for (let n = 0; n < items.length; n++) text += (n > 0 ? "," : "") + print(items[n], depth);
  return text + "]";
}

function printObject(value: Record<string, unknown>, depth: number): string {
  const keys = sortByKey(Object.keys(value), (key) => key);
  let text = "{";
  for (const key of keys) {
    const item = value[key];
    if (item === undefined) continue;
    text += (text.length > 1 ? "," : "") + printString(key) + ":" + print(item, depth);
  }
  return text + "}";
}

// deno-lint-ignore no-control-regex -- exactly what JSON escapes, and what may be half of a pair
const NOT_VERBATIM = /["\\\u0000-\u001f\ud800-\udfff]/;

/** @throws {NotCanonical} it contains U+0000 or half of a surrogate pair */
export function printString(value: string): string {
  if (!NOT_VERBATIM.test(value)) return `"${value}"`;
  if (value.includes("\0")) throw new NotCanonical("Text contains U+0000");
  if (!value.isWellFormed()) throw new NotCanonical("Text contains half of a surrogate pair");
  return JSON.stringify(value);
}

function printNumber(value: number): string {
  if (!Number.isFinite(value)) throw new NotCanonical(`${value} is not a JSON number`);
  const isPrintedAsInteger = Number.isInteger(value) && Math.abs(value) < 1e21;
  return isPrintedAsInteger ? String(value) : printDouble(value);
}

/** Prints a double's shortest digits as Python does: positional from 1e-4 to below 1e16, else with exponent. */
export function printDouble(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const [mantissa, power] = value.toExponential().split("e") as [string, string];
  const exponent = Number(power);
  if (exponent < -4 || exponent >= 16) {
    const digits = String(Math.abs(exponent)).padStart(2, "0");
    return `${mantissa}e${exponent < 0 ? "-" : "+"}${digits}`;
  }
  const sign = mantissa.startsWith("-") ? "-" : "";
  const digits = mantissa.replace("-", "").replace(".", "");
  if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${digits}`;
  const whole = digits.slice(0, exponent + 1).padEnd(exponent + 1, "0");
  return `${sign}${whole}.${digits.slice(exponent + 1) || "0"}`;
}

export const SURROGATE = /[\ud800-\udfff]/;
const UTF_8 = new TextEncoder();

/** Compares by code points. JavaScript compares strings by UTF-16 units. */
function compareCodePoints(a: string, b: string): number {
  if (!SURROGATE.test(a) && !SURROGATE.test(b)) return a < b ? -1 : a > b ? 1 : 0;
  const [left, right] = [UTF_8.encode(a), UTF_8.encode(b)]; // UTF-8 sorts as code points do
  const differs = left.findIndex((byte, n) => byte !== right[n]);
  if (differs === -1) return left.length - right.length;
  return differs < right.length ? left[differs]! - right[differs]! : 1;
}

/** Sorts an array in place by the code points of its entries' keys. Most arrays are in that order already. */
function sortByKey<T>(entries: T[], keyOf: (entry: T) => string): T[] {
  let isAscending = true; // by UTF-16 units
  let hasSurrogates = false;
  for (let n = 0; n < entries.length; n++) {
    const key = keyOf(entries[n]!);
    if (n > 0 && keyOf(entries[n - 1]!) > key) isAscending = false;
    if (!hasSurrogates) hasSurrogates = SURROGATE.test(key);
  }
  if (isAscending && !hasSurrogates) return entries;
  return entries.sort((a, b) => compareCodePoints(keyOf(a), keyOf(b)));
}

/** Joins fields, each with the canonical text of its value, to a canonical object. */
export function joinFields(fields: Iterable<readonly [string, string]>): string {
  let text = "{";
  for (const [key, value] of sortByKey([...fields], ([key]) => key)) {
    text += (text.length > 1 ? "," : "") + printString(key) + ":" + value;
  }
  return text + "}";
}
