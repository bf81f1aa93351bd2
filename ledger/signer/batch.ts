/** The end of a chain. */
export interface ChainHead {
  readonly size: number;
  /** Hash of the newest receipt; null: there is none. */
  readonly hash: Buffer | null;
}

/** A receipt that is linked to the one before, and its request. */
export interface BatchReceipt {
  readonly id: string;
  readonly category: string;
  /** Number of its row in the outbox. */
  readonly seq: string;
  /** Canonical bytes. */
  readonly record: Buffer;
  /** SHA-256 of the record. */
  readonly hash: Buffer;
}

/** Signatures of a batch. */
export interface Signatures {
  /** Key that made them, 32 bytes. */
  readonly publicKey: Buffer;
  /** Of 64 bytes each, in the order of the receipts. */
  readonly signatures: readonly Buffer[];
}

/** Consecutive receipts that are signed and committed together. At least one. */
export interface Batch {
  /** The end of the chain before them. */
  readonly before: ChainHead;
  readonly receipts: readonly BatchReceipt[];
  /** Signatures by another key than the signer's own. */
  readonly signed?: Signatures;
}

/** Returns the end of the chain with a batch. */
export function getHeadAfter({ before, receipts }: Batch): ChainHead {
  return { size: before.size + receipts.length, hash: receipts.at(-1)!.hash };
}

/** Returns true where two ends of a chain are the same. */
export function isSameHead(a: ChainHead, b: ChainHead): boolean {
  return a.size === b.size && (a.hash === null ? b.hash === null : b.hash?.equals(a.hash) === true);
}
