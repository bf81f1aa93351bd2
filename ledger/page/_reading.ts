import { readStoryReceipt, type StoryReceipt } from "../stories/mod.ts";
import { type Call, exportRecords } from "./_answers.ts";

/** Which receipts a page lists. Absent: all. */
export interface ListQuery {
  readonly about?: string;
  readonly category?: string;
  readonly kind?: string;
  readonly day?: string;
  /** Position, exclusive. */
  readonly before?: string;
}

/** A page of a list. */
export interface ReadList {
  /** Newest first. */
  readonly receipts: readonly StoryReceipt[];
  /** `before` of the next page; null: this is the last. */
  readonly nextBefore: number | null;
  /** Null: not counted. */
  readonly total: number | null;
}

const QUERY_FIELDS = ["about", "category", "kind", "day", "before"] as const;

/** Reads the fields of a list from a page's address, and leaves out others. */
export function readQuery(query: Readonly<Record<string, unknown>>): ListQuery {
  return Object.fromEntries(
    QUERY_FIELDS.flatMap((name) =>
      typeof query[name] === "string" && query[name] !== "" ? [[name, query[name]]] : []
    ),
  );
}

/** Prints a list's fields as the query of an address. @param changes undefined: leaves a field out */
export function printQuery(query: ListQuery, changes: Readonly<Partial<ListQuery>> = {}): string {
  const fields = Object.entries({ ...query, ...changes }).filter(([, value]) =>
    value !== undefined
  );
  return new URLSearchParams(fields as [string, string][]).toString();
}

/** Reads a page of a list: which receipts there are from the list, and what they say from their records. */
export async function readList(call: Call, query: ListQuery, limit: number): Promise<ReadList> {
  const { before, kind, ...filters } = query;
  const list = await call("public_ledger.receipts", {
    ...filters,
    limit,
    ...(kind === undefined || kind === "all" ? {} : { kind }),
    ...(before === undefined ? {} : { before: Number(before) }),
  }) as {
    readonly total: number | null;
    readonly next_before: number | null;
    readonly receipts: readonly { readonly chain_position: number }[];
  };
  const positions = list.receipts.map(({ chain_position }) => chain_position);
  return {
    receipts: await readReceipts(call, positions),
    nextBefore: list.next_before,
    total: list.total,
  };
}

/** Reads receipts at positions, those next to each other at once. */
async function readReceipts(call: Call, positions: readonly number[]): Promise<StoryReceipt[]> {
  const spans: { from: number; to: number }[] = [];
  for (const position of positions.toSorted((a, b) => a - b)) {
    const last = spans.at(-1);
    if (last?.to === position) last.to = position + 1;
    else spans.push({ from: position, to: position + 1 });
  }
  const read = new Map<number, string>();
  await Promise.all(spans.map(async ({ from, to }) => {
    const records = await exportRecords(call, from, to);
    records.forEach((record, n) => read.set(from + n, record));
  }));
  return positions.map((position) => readStoryReceipt(read.get(position) ?? "", position));
}
