import {
  canonicalizeText,
  computeInclusionRoot,
  findTrustedKey,
  formatLeaf,
  hashLeaf,
  isSameHash,
  NotCanonical,
  parseFields,
  type Primitives,
  readLink,
  readPosition,
  verifyRecord,
} from "../rules/mod.ts";
import type { Trust } from "../trust/mod.ts";
import type { OpenedReceipt } from "./bundle.ts";
import type { LogView } from "./_log.ts";

/** The findings about a receipt. */
export interface Findings {
  /** Findings, for people. */
  readonly says: string[];
  /** Statements that do not hold. */
  readonly faults: string[];
  /** Questions that stay open, as something is missing. */
  readonly absent: string[];
}

/** A receipt, checked by itself. */
export interface CheckedReceipt extends Findings {
  readonly position: number;
  readonly id: string;
  readonly timestamp: string;
  readonly category: string;
  readonly actor: string;
  readonly subject: string;
  readonly action: string;
  readonly outcome: string;
  readonly details: Readonly<Record<string, unknown>>;
  /** Contents that fit their commitments, parsed. */
  readonly opened: ReadonlyMap<string, unknown>;
  /** The same as they were sealed: canonical JSON. */
  readonly contents: ReadonlyMap<string, string>;
}

const UTF_8 = new TextEncoder();

/** Checks a receipt by itself: its hash and signature, its place in the log, and each opened entry by its commitment. */
export function checkOpened(
  receipt: OpenedReceipt,
  log: LogView,
  trust: Trust,
  primitives: Primitives,
): CheckedReceipt {
  const { record } = receipt;
  const position = readPosition(record) ?? -1;
  const fields = parseFields(record);
  const text = (name: string) => typeof fields[name] === "string" ? fields[name] : "";
  const findings: Findings = { says: [], faults: [], absent: [] };
  checkSignature(record, position, log, trust, primitives, findings);
  checkPlace({ position, id: text("id"), text: record }, receipt.hashes, log, primitives, findings);
  const details = asObject(fields.details);
  const contents = checkEntries(receipt, asObject(details.commitments), primitives, findings);
  return {
    ...findings,
    position,
    id: text("id"),
    timestamp: text("timestamp"),
    category: text("category"),
    actor: text("actor"),
    subject: text("subject"),
    action: text("action"),
    outcome: text("outcome"),
    details,
    contents,
    opened: new Map([...contents].map(([name, content]) => [name, JSON.parse(content)])),
  };
}

function checkSignature(
  record: string,
  position: number,
  { isPinned: logIsPinned }: LogView,
  { ledgerKeys }: Trust,
  primitives: Primitives,
  { says, faults, absent }: Findings,
): void {
  const publicKey = String(asObject(parseFields(record).signature).public_key);
  const place = { position, previousHash: readLink(record) };
  const { verdict } = verifyRecord(record, place, [{ publicKey, fromPosition: 0 }], primitives);
  if (position < 0 || !verdict.verified) {
    return void faults.push("the receipt is not what its key has signed");
  }
  const key = primitives.sha256(primitives.fromHex(publicKey)).slice(0, 16);
  const isPinned = findTrustedKey(ledgerKeys, position)?.publicKey === publicKey;
  const known = isPinned ? "which is pinned" : "as the file says";
  says.push(`signed by the ledger's key of fingerprint ${key}…, ${known}`);
  if (ledgerKeys.length > 0 && !isPinned && !logIsPinned) {
    absent.push("no pinned key vouches for the key that signed it: pin the log as well");
  }
}

function checkPlace(
  leaf: { readonly position: number; readonly id: string; readonly text: string },
  hashes: readonly string[] | null,
  { checkpoint, isPinned }: LogView,
  primitives: Primitives,
  { says, faults, absent }: Findings,
): void {
  if (!checkpoint || hashes === null) {
    const missing = "no signed checkpoint in the file has it";
    return void (isPinned ? absent : says).push(missing);
  }
  const sha256 = (bytes: Uint8Array) => primitives.fromHex(primitives.sha256(bytes));
  const { size, root, origin } = checkpoint;
  const proof = hashes.map((hex) => primitives.fromHex(hex));
  const leafHash = leafOf(leaf, primitives, sha256);
  const found = leafHash &&
    computeInclusionRoot({ leafHash, index: leaf.position, size, proof }, sha256);
  if (!found || !isSameHash(found, root)) {
    return void faults.push("its proof does not lead to the root that the log signed");
  }
  says.push(
    `in the log: its proof, of length ${hashes.length}, leads to the root that ${origin} signed for ${size} receipts, ` +
      (isPinned ? "whose key is pinned" : "with the key that the file names"),
  );
}

function leafOf(
  leaf: { readonly position: number; readonly id: string; readonly text: string },
  primitives: Primitives,
  sha256: (bytes: Uint8Array) => Uint8Array,
): Uint8Array | undefined {
  try {
    return hashLeaf(UTF_8.encode(formatLeaf(leaf, primitives.sha256)), sha256);
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return undefined;
  }
}

/** Returns the contents that are what was sealed. */
function checkEntries(
  { opened }: OpenedReceipt,
  commitments: Readonly<Record<string, unknown>>,
  { sha256, fromHex }: Primitives,
  { says, faults }: Findings,
): Map<string, string> {
  const contents = new Map<string, string>();
  for (const name of Object.keys(opened).sort()) {
    const { salt, content } = opened[name]!;
    const text = UTF_8.encode(content);
    const bytes = new Uint8Array(32 + text.length);
    bytes.set(fromHex(salt));
    bytes.set(text, 32);
    const isSealed = Object.hasOwn(commitments, name) && sha256(bytes) === commitments[name];
    if (isSealed && isCanonical(content)) contents.set(name, content);
    else faults.push(`its ${name} is not what was sealed`);
  }
  const names = Object.keys(commitments).sort();
  const closed = names.filter((name) => !Object.hasOwn(opened, name));
  if (contents.size > 0) {
    says.push(`opened, and what was sealed: ${[...contents.keys()].join(", ")}`);
  }
  if (closed.length > 0) says.push(`not opened: ${closed.join(", ")}`);
  return contents;
}

function isCanonical(content: string): boolean {
  try {
    return canonicalizeText(content) === content;
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
    return false;
  }
}

/** Returns a value's fields; none where it is no object. */
export function asObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {};
}
