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
const GRANT_ID = /^GRN-[0-9a-f]{12}$/;
/** Most receipts that name an approval, or a grant, of which those are opened that are about it. */
const MAX_RECEIPTS = { approval: 200, grant: 4_000 };

/** A receipt with the evidence behind it. */
export interface ReceiptEvidence {
  readonly receipt: StoredReceipt;
  readonly entries: readonly EvidenceEntry[];
}

/**
 * Returns what is to be opened of a receipt; of an approval, all its receipts; of a standing grant, its own, those of its uses,
 * and those of the approval that it takes; and of each passkey that has signed, its enrolment. Oldest first. Each entry is
 * checked against its commitment.
 *
 * @param what id or prefix of a receipt, or the id of an approval or a grant
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
  const found = APPROVAL_ID.test(what)
    ? await receiptsOfApproval(store, what)
    : GRANT_ID.test(what)
    ? await receiptsOfGrant(store, what)
    : [];
  return found.length > 0 ? found : [await findReceipt(store, what)];
}

async function receiptsOfApproval(store: Store, id: string): Promise<StoredReceipt[]> {
  const named = await listReceiptsBy(store, { name: id }, { limit: MAX_RECEIPTS.approval });
  return named.filter(({ category, text }) =>
    category === "approval" && JSON.parse(text).subject === id
  );
}

/** Returns the receipts of a grant: that it was made and revoked, each use, and the approval of others that it takes. */
async function receiptsOfGrant(store: Store, id: string): Promise<StoredReceipt[]> {
  const named = await listReceiptsBy(store, { name: id }, { limit: MAX_RECEIPTS.grant });
  const own = named.filter(({ category, text }) =>
    category === "grant" ||
    category === "governance_decision" && JSON.parse(text).details.grant === id
  );
  const approvals = own.map(({ text }) => JSON.parse(text).details.approval_id)
    .filter((one) => APPROVAL_ID.test(String(one)));
  const asked = await Promise.all(approvals.map((one) => receiptsOfApproval(store, one)));
  return [...own, ...asked.flat()];
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
