import type { Store } from "../../store/mod.ts";
import { sha256 } from "../crypto/mod.ts";
import {
  buildInclusionProof,
  createHashReader,
  getPublishedCheckpoint,
  type PublishedCheckpoint,
} from "../log/mod.ts";
import type { EvidenceBundle } from "../opened/mod.ts";
import {
  type EvidenceEntry,
  findReceipt,
  listReceiptsBy,
  readEvidence,
  type StoredReceipt,
} from "../receipts/mod.ts";

const APPROVAL_ID = /^APR-[0-9a-f]{12}$/;
/** Most receipts of an approval that are opened. */
const MAX_RECEIPTS = 200;

/** A receipt with the evidence behind it. */
export interface ReceiptEvidence {
  readonly receipt: StoredReceipt;
  readonly entries: readonly EvidenceEntry[];
}

/**
 * Returns what is to be opened of a receipt; of an approval, all its receipts, and those of the enrolments of the passkeys that
 * have signed, oldest first. Each entry is checked against its commitment.
 *
 * @param what id or prefix of a receipt, or an approval's id
 * @throws {ReceiptNotFound} none matches
 */
export async function readOpenable(store: Store, what: string): Promise<ReceiptEvidence[]> {
  const found = await findReceipts(store, what);
  const opened = await Promise.all(found.map((receipt) => readEntries(store, receipt)));
  const enrolments = opened.flatMap(({ entries }) => enrolmentIn(entries));
  const known = new Set(found.map(({ id }) => id));
  const more = [...new Set(enrolments)].filter((id) => !known.has(id));
  const enrolled = await Promise.all(
    more.map(async (id) => await readEntries(store, await findReceipt(store, id))),
  );
  return [...enrolled, ...opened].sort((a, b) => a.receipt.position - b.receipt.position);
}

/**
 * Makes a file of opened evidence, with all that it takes to verify it without the platform.
 *
 * @param receipts each with the entries to open
 */
export async function bundleEvidence(
  store: Store,
  receipts: readonly ReceiptEvidence[],
): Promise<EvidenceBundle> {
  const checkpoint = await getPublishedCheckpoint(store);
  return {
    sealoop_evidence: 1,
    log_key: checkpoint?.verifierKey ?? null,
    checkpoint: checkpoint?.note ?? null,
    receipts: await Promise.all(receipts.map(async ({ receipt, entries }) => ({
      record: receipt.text,
      hashes: await proofOf(store, receipt, checkpoint),
      opened: openedOf(entries),
    }))),
  };
}

async function findReceipts(store: Store, what: string): Promise<StoredReceipt[]> {
  if (!APPROVAL_ID.test(what)) return [await findReceipt(store, what)];
  const named = await listReceiptsBy(store, { name: what }, { limit: MAX_RECEIPTS });
  const own = named.filter(({ category, text }) =>
    category === "approval" && JSON.parse(text).subject === what
  );
  if (own.length > 0) return own;
  return [await findReceipt(store, what)]; // which says that there is none
}

async function readEntries(store: Store, receipt: StoredReceipt): Promise<ReceiptEvidence> {
  const { entries } = await readEvidence(store, receipt.id);
  return { receipt, entries };
}

function enrolmentIn(entries: readonly EvidenceEntry[]): string[] {
  const content = entries.find(({ name }) => name === "statement")?.content;
  const enrolment: unknown = content === undefined ? undefined : JSON.parse(content).enrolment;
  return typeof enrolment === "string" ? [enrolment] : [];
}

async function proofOf(
  store: Store,
  { position }: StoredReceipt,
  checkpoint: PublishedCheckpoint | undefined,
): Promise<string[] | null> {
  if (!checkpoint || position >= checkpoint.size) return null;
  const read = createHashReader(store);
  const proof = await buildInclusionProof(position, checkpoint.size, read, sha256);
  return proof.map((hash) => Buffer.from(hash).toString("hex"));
}

function openedOf(
  entries: readonly EvidenceEntry[],
): EvidenceBundle["receipts"][number]["opened"] {
  return Object.fromEntries(
    entries.flatMap(({ name, salt, content }) =>
      salt === undefined || content === undefined ? [] : [[name, { salt, content }] as const]
    ),
  );
}
