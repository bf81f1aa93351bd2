/** The list of receipts: its filters, and how it is read. */
import { z } from "zod";
import { InvalidInput, type Issue } from "../../contract/mod.ts";
import type { Store } from "../../store/mod.ts";
import { getPublicSize } from "../log/mod.ts";
import {
  countByCategory,
  countReceiptsBy,
  listReceipts,
  listReceiptsBy,
  listReceiptsOfFile,
  type ReceiptFilter,
  type StoredReceipt,
} from "../receipts/mod.ts";
import { isName, KINDS, type ReceiptKind } from "../stories/mod.ts";

const KIND_NAMES = ["happened", ...Object.keys(KINDS)] as ["happened", ...ReceiptKind[]];
const DAY = /^\d{4}-\d\d-\d\d$/;
/** Parameters that choose among receipts. */
const FILTERS = ["about", "category", "kind", "day", "file_sha256"] as const;

const isDay = (text: string) =>
  DAY.test(text) && new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text;

/** Input of the list. */
export const ListInput = z.object({
  limit: z.number().int().min(1).max(200).default(20).describe("Maximum receipts of the page"),
  page: z.number().int().min(0).max(1_000_000_000).default(0).describe(
    "From 0, the newest; only without a filter",
  ),
  before: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER).optional().describe(
    "Only receipts before this position; takes the place of `page`",
  ),
  about: z.string().refine(
    isName,
    "Expected an id such as INC-, APR-, CMD-, DEV- or ART- and 12 hex characters, or key: and 16. Names of services, " +
      "hosts, people and organizations are private, and in no receipt",
  ).optional().describe("Only receipts whose public fields name this id"),
  category: z.string().min(1).max(200).optional().describe("Only receipts of this category"),
  kind: z.enum(KIND_NAMES).optional().describe(
    "Only receipts of these categories: repairs, approvals, commands, publications, or all four (`happened`)",
  ),
  day: z.string().refine(isDay, "Expected a day like 2026-07-01").optional().describe(
    "Only receipts of this day, as they say it, in UTC",
  ),
  file_sha256: z.string().regex(/^[0-9a-f]{64}$/, "Expected 64 lowercase hex characters")
    .optional()
    .describe(
      "Only receipts about the published file with this SHA-256, what the platform has published first; one page",
    ),
});

/** Input of the list. */
export type ListInput = z.infer<typeof ListInput>;

/** A page of the list. */
interface ReceiptList {
  /** Newest first, but those of a file. */
  readonly receipts: readonly StoredReceipt[];
  /** Null: not counted. */
  readonly total: number | null;
  readonly hasMore: boolean;
}

/** Returns whether pages of this list have numbers. */
export const isPaged = (input: ListInput): boolean =>
  input.before === undefined && FILTERS.every((name) => input[name] === undefined);

/**
 * Reads a page of the list.
 *
 * @throws {InvalidInput} filters that don't go together, a category that no receipt has
 */
export async function readList(store: Store, input: ListInput): Promise<ReceiptList> {
  const issues = findIssues(input);
  if (issues.length > 0) throw new InvalidInput(issues);
  const { limit, page, before = Number.MAX_SAFE_INTEGER, file_sha256 } = input;
  const size = await getPublicSize(store);
  if (file_sha256 !== undefined) {
    const receipts = (await listReceiptsOfFile(store, file_sha256, limit))
      .filter(({ position }) => position < size);
    return { receipts, total: receipts.length, hasMore: false };
  }
  const filter = await toFilter(store, input, size);
  if (filter === undefined) {
    const end = Math.min(before, size - (input.before === undefined ? page * limit : 0));
    const receipts = end > 0 ? await listReceipts(store, { limit, before: end }) : [];
    return { receipts, total: size, hasMore: end - limit > 0 };
  }
  const [total, found] = await Promise.all([
    "name" in filter ? null : countReceiptsBy(store, filter, size),
    listReceiptsBy(store, filter, { limit: limit + 1, before: Math.min(before, size) }),
  ]);
  return { receipts: found.slice(0, limit), total, hasMore: found.length > limit };
}

async function toFilter(
  store: Store,
  { about, category, kind, day }: ListInput,
  size: number,
): Promise<ReceiptFilter | undefined> {
  if (about !== undefined) return { name: about };
  if (category !== undefined) await assertCategory(store, category, size);
  const categories = category !== undefined
    ? [category]
    : kind === "happened"
    ? Object.values(KINDS).flat()
    : kind && KINDS[kind];
  if (categories === undefined && day === undefined) return undefined;
  return { ...(categories ? { categories } : {}), ...(day === undefined ? {} : { day }) };
}

async function assertCategory(store: Store, category: string, size: number): Promise<void> {
  const known = (await countByCategory(store, size)).map((one) => one.category).sort();
  if (known.includes(category)) return;
  const msg = `No receipt has this category; there are ${known.join(", ") || "no receipts yet"}`;
  throw new InvalidInput([issue("category", msg)]);
}

function findIssues(input: ListInput): Issue[] {
  const given = FILTERS.filter((name) => input[name] !== undefined);
  const alone = given.find((name) => name === "about" || name === "file_sha256");
  if (alone && given.length > 1) {
    const others = given.filter((name) => name !== alone).join(" and ");
    return [issue(alone, `Stands alone: leave out ${others}`)];
  }
  if (input.category !== undefined && input.kind !== undefined) {
    return [issue("kind", "Give either a kind or a category, as a kind is a list of categories")];
  }
  if (input.page > 0 && !isPaged(input)) {
    return [
      issue("page", "Pages have numbers only without a filter: follow `next_before` by `before`"),
    ];
  }
  return [];
}

const issue = (field: string, msg: string): Issue => ({
  path: [field],
  msg,
  type: "value_error",
});
