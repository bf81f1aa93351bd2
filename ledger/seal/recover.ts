import { existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type pg from "pg";
import type { Store } from "../../store/mod.ts";
import { loadSigningKey, type SigningKey } from "../crypto/mod.ts";
import { readSignedSize } from "../log/mod.ts";
import { findTrustedKey } from "../rules/mod.ts";
import { type JournalObjects, openSigner } from "../signer/mod.ts";
import { readHead } from "./_append.ts";
import { makeRotation } from "./_key_receipts.ts";
import { nextKeyFile, seal } from "./_own_keys.ts";
import { findInForce, listKeys } from "./_own_receipts.ts";
import { reconcile } from "./_reconcile.ts";
import { takeSequencerLock } from "./sequencer.ts";

/** A ledger key can't be replaced by this recovery key. Nothing was changed. */
class RecoveryRefused extends Error {
  override readonly name = "RecoveryRefused";
}

/** Options of {@linkcode recoverLedgerKey}. */
export interface RecoveryOptions {
  /** Store of role `sequencer`. */
  readonly store: Store;
  /** PEM file of the ledger key, which may be missing. The new key is put there. */
  readonly keyFile: string;
  /** Objects of a bucket that have the journal. Default: the folder beside the key has it. */
  readonly journal?: JournalObjects | undefined;
  readonly recoveryKey: SigningKey;
  /** Public recovery key from now on, hex. Default: the same. */
  readonly newRecoveryKey?: string | undefined;
}

/**
 * Replaces a ledger key that is lost or stolen: makes a new one, and seals with the recovery key that it signs from now on.
 * No sequencer may be at work. After a crash it can be repeated.
 *
 * @returns the new ledger key, hex
 * @throws {RecoveryRefused} it is not the recovery key of this ledger
 * @throws {SequencerBusy} a sequencer is at work
 * @throws {SealingHeld} database and signer do not agree about what was signed
 */
export async function recoverLedgerKey(options: RecoveryOptions): Promise<string> {
  const { store, keyFile, journal, recoveryKey } = options;
  const writer = await store.connect();
  try {
    await takeSequencerLock(writer);
    await requireRecoveryKey(writer, recoveryKey);
    await replaceKeyFile(writer, options);
    const signer = await openSigner(keyFile, { journal });
    try {
      await reconcile({ writer, signer, checkpointSize: await readSignedSize(dirname(keyFile)) });
      const [head, keys] = [await readHead(writer), await listKeys(writer)];
      const newKey = loadSigningKey(keyFile);
      const publicKey = newKey.publicKey.toString("hex");
      if (findInForce(keys, head)?.publicKey === publicKey) return publicKey; // sealed before a crash
      const next = options.newRecoveryKey ?? recoveryKey.publicKey.toString("hex");
      const receipt = makeRotation("recovered", { head, keys, newKey, recoveryKey: next });
      await seal({ writer, signer }, head, receipt, recoveryKey);
      return publicKey;
    } finally {
      await signer.close();
    }
  } finally {
    await writer.end();
  }
}

async function requireRecoveryKey(writer: pg.Client, { publicKey }: SigningKey): Promise<void> {
  const inForce = findTrustedKey(await listKeys(writer), (await readHead(writer)).size);
  const given = publicKey.toString("hex");
  if (!inForce) throw new RecoveryRefused("Nothing to recover: the ledger has no key yet");
  if (inForce.recoveryKey === given) return;
  throw new RecoveryRefused(
    `The ledger's recovery key is ${inForce.recoveryKey}, and the given one is ${given}`,
  );
}

/** Puts a new key in place of the old one, after committing what the old one has signed. */
async function replaceKeyFile(
  writer: pg.Client,
  { keyFile, journal }: RecoveryOptions,
): Promise<void> {
  if (existsSync(keyFile)) {
    const publicKey = loadSigningKey(keyFile).publicKey.toString("hex");
    const keys = await listKeys(writer);
    if (!keys.some((key) => key.publicKey === publicKey)) return; // a new one, from before a crash
    const signer = await openSigner(keyFile, { journal });
    const checkpointSize = await readSignedSize(dirname(keyFile));
    await reconcile({ writer, signer, checkpointSize }).finally(() => signer.close());
  }
  const next = nextKeyFile(keyFile);
  loadSigningKey(next);
  renameSync(next, keyFile);
}
