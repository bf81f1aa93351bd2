/** Tells whether a value, as JSON gives it, has a shape. */
export type Shape = (value: unknown) => boolean;

export const TEXT: Shape = (value) => typeof value === "string";
export const COUNT: Shape = (value) => Number.isSafeInteger(value) && (value as number) >= 0;
export const HASH: Shape = (value) => typeof value === "string" && /^[0-9a-f]{64}$/.test(value);
/** A time in UTC, as receipts and grants have it. */
export const TIME: Shape = (value) => secondsOf(value) !== undefined;

export const oneOf = (...values: readonly unknown[]): Shape => (value) => values.includes(value);
export const orNull = (shape: Shape): Shape => (value) => value === null || shape(value);
export const listOf = (shape: Shape): Shape => (value) =>
  Array.isArray(value) && value.every(shape);

/** An object with any names, whose values have a shape. */
export const mapOf = (shape: Shape): Shape => (value) =>
  isObject(value) && Object.values(value).every(shape);

/** An object with exactly these fields; those of `optional` may be absent. */
export const object = (
  fields: Readonly<Record<string, Shape>>,
  optional: Readonly<Record<string, Shape>> = {},
): Shape =>
(value) =>
  isObject(value) && Object.keys(fields).every((name) => Object.hasOwn(value, name)) &&
  Object.entries(value).every(([name, item]) => {
    const shape = Object.hasOwn(fields, name) ? fields[name] : optional[name];
    return shape !== undefined && shape(item);
  });

function isObject(value: unknown): value is object {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const TIME_FORM =
  /^([1-9]\d{3})-(0[1-9]|1[0-2])-(\d\d)T(\d\d):(\d\d):(\d\d)(?:\.\d+)?(?:Z|\+00:00)$/;

/** Returns a time in whole seconds; undefined: it is none. */
export function secondsOf(value: unknown): number | undefined {
  const parts = typeof value === "string" ? TIME_FORM.exec(value) : null;
  if (!parts) return undefined;
  const [year, month, day, hour, minute, second] = parts.slice(1).map(Number);
  return Date.UTC(year!, month! - 1, day, hour, minute, second) / 1_000;
}
