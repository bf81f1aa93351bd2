/** A part that was left out of a value: items of a list, fields of an object, or the end of a text. */
export interface LeftOut {
  /** Place of the list, object or text in the value, a JSON Pointer. */
  readonly at: string;
  /** Number of items, of fields, or of characters. */
  readonly count: number;
  readonly of: "items" | "fields" | "characters";
}

/** A value that is short enough, and what was left out for that. */
export interface Fitted {
  readonly value: unknown;
  readonly leftOut: readonly LeftOut[];
}

/** Most items of each list, characters of each text, and fields of each object. */
interface Bounds {
  readonly items: number;
  readonly characters: number;
  readonly fields: number;
}

/** Bounds in the order in which they are narrowed, each with the smallest that it is narrowed to before the next. */
const SMALLEST: readonly (readonly [keyof Bounds, number])[] = [
  ["items", 1],
  ["characters", 80],
  ["fields", 0],
];

/**
 * Cuts a value until it is short enough as JSON: whole items leave the ends of lists, then long texts lose their ends, then
 * fields leave the ends of objects. Fields of items that are null are left out first, as they say nothing.
 *
 * @param value JSON @param maxLength of the whole as JSON, characters, > 100
 */
export function fit(value: unknown, maxLength: number): Fitted {
  const isShort = ({ value }: Fitted) => lengthOf(value) <= maxLength;
  if (isShort({ value, leftOut: [] })) return { value, leftOut: [] };
  const said = withoutNulls(value);
  const largest = maxLength; // what has more parts can't be short enough
  let bounds: Bounds = { items: largest, characters: largest, fields: largest };
  let fitted = cut(said, bounds);
  for (const [name, smallest] of SMALLEST) {
    if (isShort(fitted)) break;
    let [low, high] = [smallest, largest];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (isShort(cut(said, { ...bounds, [name]: middle }))) low = middle;
      else high = middle - 1;
    }
    bounds = { ...bounds, [name]: low };
    fitted = cut(said, bounds);
  }
  return fitted;
}

const lengthOf = (value: unknown) => JSON.stringify(value ?? null).length;

/** Cuts every part of a value to the bounds. */
function cut(root: unknown, bounds: Bounds): Fitted {
  const leftOut: LeftOut[] = [];
  const leave = (at: string, of: LeftOut["of"], count: number) => {
    if (count > 0) leftOut.push({ at, count, of });
  };
  const walk = (at: string, value: unknown): unknown => {
    if (typeof value === "string") {
      if (value.length <= bounds.characters) return value;
      const start = value.slice(0, bounds.characters - 1).replace(/[\uD800-\uDBFF]$/, "");
      leave(at, "characters", value.length - start.length);
      return `${start}…`;
    }
    if (Array.isArray(value)) {
      leave(at, "items", value.length - bounds.items);
      return value.slice(0, bounds.items).map((item, n) => walk(`${at}/${n}`, item));
    }
    if (typeof value !== "object" || value === null) return value;
    const entries = Object.entries(value);
    leave(at, "fields", entries.length - bounds.fields);
    return Object.fromEntries(
      entries.slice(0, bounds.fields).map(([name, inner]) => {
        const escaped = name.replaceAll("~", "~0").replaceAll("/", "~1");
        return [name, walk(`${at}/${escaped}`, inner)];
      }),
    );
  };
  return { value: walk("", root), leftOut };
}

/** Leaves out fields that are null, but for those of the value itself. */
function withoutNulls(value: unknown, isInside = false): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutNulls(item, true));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, inner]) =>
      inner === null && isInside ? [] : [[name, withoutNulls(inner, true)]]
    ),
  );
}
