import { existsSync, renameSync } from "node:fs";
import { dirname } from "node:path";
import type pg from "pg";
import { BadKeyFile, loadSigningKey, type SigningKey } from "../crypto/mod.ts";
import { writeDurably } from "../log/mod.ts";
import { rootKeyFile } from "../receipts/mod.ts";
import type { Hash } from "../rules/mod.ts";
import { type ChainHead, getHeadAfter, type JournalObjects, type Signer } from "../signer/mod.ts";
import { appendReceipts, readHead } from "./_append.ts";
import { SealingHeld } from "./_trouble.ts";
import { findInForce, listKeys, mayBegin } from "./_own_receipts.ts";
import { makeAdoption, makeGenesis, makeRotation } from "./_key_receipts.ts";
import { computeLeaves, type LinkedReceipt } from "./_link.ts";
import { chooseRecoveryKey } from "./recovery_key.ts";

/** The file of the ledger's key, and the recovery key. */
export interface KeyOptions {
  /** PEM file of the signing key, beside the signer's journal. Both are created where there is neither. */
  readonly keyFile: string;
  /** Unix socket of the process that has the key. Default: the key is the file. */
  readonly signerSocket?: string | undefined;
  /** Objects of a bucket that have the journal. Default: the folder beside the key has it. */
  readonly journal?: JournalObjects | undefined;
  /** Public recovery key of a new ledger, hex. Default: the one that {@linkcode ensureRecoveryKey} has stored. */
  readonly recoveryKey?: string | undefined;
}

/** Parts of sealing a receipt that introduces keys. */
export interface KeySealing {
  /** Connection that commits. */
  readonly writer: pg.ClientBase;
  readonly signer: Signer;
  /** Called with the leaves of the Merkle log that were added. */
  readonly onLeaves?: ((position: number, leaves: readonly Hash[]) => void) | undefined;
}

/** Returns the path of the key that is to sign next. */
export const nextKeyFile = (keyFile: string): string => `${keyFile}.next`;

/**
 * Makes the key that is to sign next. The sequencer hands over to it between two batches.
 *
 * @returns its public key, hex; that of an earlier request which is not done yet
 * @throws {BadKeyFile} there is no ledger key here to hand over
 */
export function requestRotation(keyFile: string): string {
  if (!existsSync(keyFile)) {
    throw new BadKeyFile(
      `There is no ${keyFile}: a rotation is asked for where the sequencer runs`,
    );
  }
  return loadSigningKey(nextKeyFile(keyFile)).publicKey.toString("hex");
}

/**
 * Makes sure that the signer's key is the one that signs the ledger: begins a new ledger with it, adopts an imported one,
 * and finishes a rotation that was sealed.
 *
 * @param onReady called before anything is sealed, unless sealing is held
 * @returns false where the file holds another key now, so that the signer has to be opened again
 * @throws {SealingHeld} another key signs the ledger
 */
export async function ensureOwnKey(
  sealing: KeySealing,
  options: KeyOptions,
  onReady: () => void,
): Promise<boolean> {
  const { keyFile } = options;
  const { writer, signer } = sealing;
  const [head, keys] = [await readHead(writer), await listKeys(writer)];
  const inForce = findInForce(keys, head);
  const own = signer.publicKey.toString("hex");
  if (inForce?.publicKey === own && inForce.recoveryKey !== undefined) {
    onReady();
    return true;
  }
  if (inForce && inForce.publicKey === readNextKey(keyFile)?.publicKey.toString("hex")) {
    renameSync(nextKeyFile(keyFile), keyFile);
    return false;
  }
  if (!await mayBegin(writer, head, keys)) {
    throw new SealingHeld(
      `Receipts from position ${head.size} on are to be signed by the key ${inForce?.publicKey}, and ${keyFile} ` +
        `holds ${own}. Put the right key there; if it is lost: npm run keys -- ledger recover`,
    );
  }
  const ours = {
    ledgerKey: own,
    recoveryKey: await chooseRecoveryKey(writer, options.recoveryKey),
  };
  await writeDurably(rootKeyFile(dirname(keyFile)), `${own}\n`);
  const receipt = head.size === 0
    ? makeGenesis(ours)
    : makeAdoption(head, keys, ours, await readReplaced(writer, head));
  onReady();
  await seal(sealing, head, receipt);
  return true;
}

/** Returns the description of the lost ledger that this one continues, if it does. */
async function readReplaced(
  writer: pg.ClientBase,
  { size }: ChainHead,
): Promise<Record<string, unknown> | undefined> {
  const { rows: [row] } = await writer.query("SELECT replaced FROM ledger_import WHERE size = $1", [
    size,
  ]);
  return row?.replaced ?? undefined;
}

/**
 * Hands over to the next key, if there is one: seals that, and puts it in place of the old one.
 *
 * @throws {SealingHeld} it is a key that is in use already
 */
export async function rotateIfAsked(sealing: KeySealing, { keyFile }: KeyOptions): Promise<void> {
  const { writer } = sealing;
  const newKey = readNextKey(keyFile);
  if (!newKey) return;
  const [head, keys] = [await readHead(writer), await listKeys(writer)];
  const { recoveryKey } = findInForce(keys, head)!;
  const next = newKey.publicKey.toString("hex");
  if (keys.some((key) => key.publicKey === next || key.recoveryKey === next)) {
    throw new SealingHeld(`${nextKeyFile(keyFile)} holds a key that is in use already: remove it`);
  }
  const rotation = makeRotation("rotated", { head, keys, newKey, recoveryKey: recoveryKey! });
  await seal(sealing, head, rotation);
  renameSync(nextKeyFile(keyFile), keyFile);
}

/** Seals one receipt. @param key signs it in place of the signer's own */
export async function seal(
  { writer, signer, onLeaves }: KeySealing,
  before: ChainHead,
  receipt: LinkedReceipt,
  key?: SigningKey,
): Promise<void> {
  const batch = { before, receipts: [receipt] };
  const signed = await signer.sign(batch, key);
  await appendReceipts(writer, batch, signed, []);
  signer.acknowledge(getHeadAfter(batch));
  onLeaves?.(before.size, computeLeaves([receipt], signed));
}

function readNextKey(keyFile: string): SigningKey | undefined {
  const path = nextKeyFile(keyFile);
  return existsSync(path) ? loadSigningKey(path) : undefined;
}
