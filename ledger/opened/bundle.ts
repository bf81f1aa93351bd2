import { canonicalizeText, NotCanonical } from "../rules/mod.ts";
import { HASH, listOf, mapOf, object, oneOf, orNull, TEXT } from "./_shapes.ts";

/** A file of opened evidence: receipts, their place in the Merkle log, and the private evidence that was opened of them. */
export interface EvidenceBundle {
  readonly sealoop_evidence: 1;
  /** Verifier key of the log, as the ledger names it; null: it has signed nothing yet. */
  readonly log_key: string | null;
  /** A C2SP tlog-checkpoint; null: there is none yet. */
  readonly checkpoint: string | null;
  readonly receipts: readonly OpenedReceipt[];
}

/** A receipt with what was opened of it. */
export interface OpenedReceipt {
  /** As it was exported, byte for byte. */
  readonly record: string;
  /** Inclusion proof that leads to the checkpoint's root, hex; null: the checkpoint is older. */
  readonly hashes: readonly string[] | null;
  /** Entries of the evidence by their names. */
  readonly opened: Readonly<Record<string, OpenedEntry>>;
}

/** An entry: SHA-256 over salt and content is the commitment in the receipt. */
interface OpenedEntry {
  /** 32 bytes, hex. */
  readonly salt: string;
  /** Canonical JSON. */
  readonly content: string;
}

/** A text is no file of opened evidence. */
export class BadEvidence extends Error {
  override readonly name = "BadEvidence";
}

const BUNDLE = object({
  sealoop_evidence: oneOf(1),
  log_key: orNull(TEXT),
  checkpoint: orNull(TEXT),
  receipts: listOf(object({
    record: TEXT,
    hashes: orNull(listOf(HASH)),
    opened: mapOf(object({ salt: HASH, content: TEXT })),
  })),
});

/** Returns true if a text is meant to be a file of opened evidence. */
export function isEvidenceFile(text: string): boolean {
  return /^\s*\{\s*"sealoop_evidence"/.test(text);
}

/** Reads a file of opened evidence. @throws {BadEvidence} it is none, or says something twice */
export function parseBundle(text: string): EvidenceBundle {
  try {
    const value: unknown = JSON.parse(canonicalizeText(text));
    if (BUNDLE(value)) return value as EvidenceBundle;
  } catch (error) {
    if (!(error instanceof NotCanonical)) throw error;
  }
  throw new BadEvidence("It is no file of opened evidence, or says something twice");
}

/** Writes a file of opened evidence. */
export function formatBundle(bundle: EvidenceBundle): string {
  return `${JSON.stringify(bundle, undefined, 2)}\n`;
}
