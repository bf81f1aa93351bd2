/** What was left out of a value: whole items of a list, or the end of a text. */
export interface LeftOut {
  /** Place of the list or text in the value, a JSON Pointer. */
  readonly at: string;
  readonly items?: number;
  readonly characters?: number;
}

/** A value that is short enough, and what was left out for that. */
export interface Fitted {
  readonly value: unknown;
  readonly leftOut: readonly LeftOut[];
}

/** Texts are cut to this length before lists lose their last item, characters. */
const MIN_TEXT = 80;

/**
 * Cuts a value until it is short enough as JSON: whole items leave the end of the longest list, and where no list has a
 * second item, the longest text loses its end; after these, the longest fields go. Fields of items that are null are left out
 * first, as they say nothing.
 *
 * @param value JSON @param maxLength of the whole as JSON, characters, ≥ {@linkcode MIN_TEXT}
 */
export function fit(value: unknown, maxLength: number): Fitted {
  if (lengthOf(value) <= maxLength) return { value, leftOut: [] };
  const root = { value: withoutNulls(value) };
  const leftOut = new Map<string, LeftOut>();
  for (;;) {
    const excess = lengthOf(root.value) - maxLength;
    const part = excess > 0 ? findPartToCut(root) : undefined;
    if (!part) return { value: root.value, leftOut: [...leftOut.values()] };
    const { items = 0, characters = 0 } = leftOut.get(part.at) ?? {};
    leftOut.set(part.at, {
      at: part.at,
      ...Array.isArray(part.value)
        ? { items: items + cutList(part.value, excess) }
        : { characters: characters + cutText(part, excess) },
    });
  }
}

/** A part of a value. */
interface Part {
  readonly at: string;
  readonly value: unknown;
  /** The object or list that holds it, under this name. */
  readonly holder: Record<string, unknown>;
  readonly name: string;
}

const lengthOf = (value: unknown) => JSON.stringify(value ?? null).length;

/** Kinds of parts in the order in which they are cut. */
const KINDS: readonly ((value: unknown) => boolean)[] = [
  (value) => Array.isArray(value) && value.length > 1,
  (value) => typeof value === "string" && value.length > MIN_TEXT,
  (value) => Array.isArray(value) && value.length > 0,
  (value) => typeof value !== "object",
];

function findPartToCut(root: { value: unknown }): Part | undefined {
  for (const isKind of KINDS) {
    const part = findLongest(root, isKind);
    if (part) return part;
  }
  return undefined;
}

/** Returns the longest part of a kind; of lists within lists, the outer one. */
function findLongest(
  root: { value: unknown },
  isKind: (value: unknown) => boolean,
): Part | undefined {
  let [found, longest]: [Part | undefined, number] = [undefined, 0];
  const walk = (part: Part): void => {
    const { at, value } = part;
    if (isKind(value)) {
      const length = lengthOf(value);
      if (length > longest) [found, longest] = [part, length];
    }
    if (typeof value !== "object" || value === null) return;
    const holder = value as Record<string, unknown>;
    for (const [name, inner] of Object.entries(holder)) {
      const escaped = name.replaceAll("~", "~0").replaceAll("/", "~1");
      walk({ at: `${at}/${escaped}`, value: inner, holder, name });
    }
  };
  walk({ at: "", value: root.value, holder: root, name: "value" });
  return found;
}

/** Removes items from the end, but for the first where there are others. @returns their number */
function cutList(list: unknown[], excess: number): number {
  const keep = list.length > 1 ? 1 : 0;
  let [items, length] = [0, 0];
  while (list.length > keep && length < excess) {
    length += lengthOf(list.pop()) + 1;
    items++;
  }
  return items;
}

/** Cuts the end of a long text, and removes a short field. @returns the number of characters */
function cutText({ value, holder, name }: Part, excess: number): number {
  const text = `${value}`;
  if (text.length <= MIN_TEXT) {
    delete holder[name];
    return text.length;
  }
  const keep = Math.max(MIN_TEXT - 1, text.length - excess - 1);
  const start = text.slice(0, keep).replace(/[\uD800-\uDBFF]$/, "");
  holder[name] = `${start}…`;
  return text.length - start.length;
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
