import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import type { Store } from "../../store/mod.ts";
import { BadKeyFile, verifyEd25519 } from "../crypto/mod.ts";
import { getPublishedCheckpoint, type LogSettings } from "../log/mod.ts";
import { parseCheckpoint, parseNote } from "../notes/mod.ts";
import {
  getSignedHead,
  type JournalObjects,
  missingJournal,
  missingKey,
  openFileKey,
  openPlace,
  openSocketKey,
  readSignerState,
  type ReceiptKey,
  SignerAway,
  SignerStateError,
} from "../signer/mod.ts";
import { readHead } from "./_append.ts";
import { findInForce, listKeys, mayBegin } from "./_own_receipts.ts";
import { nextKeyFile } from "./_own_keys.ts";
import { SealingHeld, storeTrouble } from "./_trouble.ts";
import { isSequencerAtWork } from "./sequencer.ts";

/** A reason why a sequencer could not sign the next receipt. */
export interface SignerProblem {
  /** For programs: `signer` (the process that has the key), `key`, `checkpoint_key` or `journal`. */
  readonly code: "signer" | "key" | "checkpoint_key" | "journal";
  /** What it waits for, such as `the ledger's key`. */
  readonly waitsFor: string;
  /** Sentences: what is wrong, and what would mend it. */
  readonly says: string;
}

/** Options of {@linkcode findSignerProblem}. */
export interface SignerProof {
  /** A store of role `sequencer`. */
  readonly store: Store;
  /** PEM file of the key, beside the signer's journal. */
  readonly keyFile: string;
  /** Unix socket of the process that has the key. Default: the key is the file. */
  readonly signerSocket?: string | undefined;
  /** Objects of a bucket that have the journal. Default: the folder beside the key has it. */
  readonly journal?: JournalObjects | undefined;
  readonly log: Pick<LogSettings, "keyFile" | "origin">;
}

/**
 * Has the key sign something, and compares it and the journal with what the database has. It changes nothing: no key is made,
 * and whoever seals goes on. A ledger without receipts of its own needs nothing but a signer that answers.
 *
 * @returns why this machine could not sign the next receipt; undefined: it could
 */
export async function findSignerProblem(proof: SignerProof): Promise<SignerProblem | undefined> {
  const { size, inForce } = await readNeeds(proof.store); // before the journal, which is never behind it
  const isNew = inForce === undefined;
  if (isNew && proof.signerSocket === undefined) return undefined;
  const ofKey = await findKeyProblem(proof, inForce);
  if (ofKey || isNew) return ofKey;
  return await findCheckpointKeyProblem(proof) ?? await findJournalProblem(proof, size);
}

/** Returns the size of the ledger, and the key that has to sign its next receipt; undefined: it has none of its own. */
async function readNeeds(store: Store): Promise<{ size: number; inForce: string | undefined }> {
  const client = await store.pool.connect();
  try {
    const [head, keys] = [await readHead(client), await listKeys(client)];
    const isNew = await mayBegin(client, head, keys);
    return { size: head.size, inForce: isNew ? undefined : findInForce(keys, head)?.publicKey };
  } finally {
    client.release();
  }
}

/**
 * Stores the problem as the reason why sealing is held, where no other sequencer seals.
 *
 * @returns true where nobody seals
 */
export async function reportSignerProblem(
  { store, keyFile }: Pick<SignerProof, "store" | "keyFile">,
  { says }: SignerProblem,
): Promise<boolean> {
  if (await isSequencerAtWork(store.asPlatform())) return false;
  const client = await store.pool.connect();
  await storeTrouble(client, new SealingHeld(says), keyFile).finally(() => client.release());
  return true;
}

/** @param inForce the key that has to sign; undefined: any */
async function findKeyProblem(
  proof: SignerProof,
  inForce: string | undefined,
): Promise<SignerProblem | undefined> {
  const { keyFile, signerSocket } = proof;
  const waitsFor = "the ledger's key";
  let key: ReceiptKey;
  try {
    if (signerSocket === undefined && !existsSync(keyFile)) throw missingKey();
    key = signerSocket === undefined ? openFileKey(keyFile) : await openSocketKey(signerSocket);
  } catch (error) {
    if (error instanceof SignerAway) return toSignerProblem(error);
    if (error instanceof SignerStateError || error instanceof BadKeyFile) {
      return { code: "key", waitsFor, says: error.message };
    }
    throw error;
  }
  try {
    const own = key.publicKey.toString("hex");
    const message = Buffer.concat([Buffer.from("sealoop proof of a signer\n"), randomBytes(32)]);
    const [signature] = await key.sign([message]);
    const isAble = verifyEd25519(own, message, signature!);
    const isKnown = inForce === undefined || own === inForce || isNext(keyFile, inForce) ||
      await hasLostReceipts(proof);
    if (isAble && isKnown) return undefined;
    const where = signerSocket ?? keyFile;
    const says = isKnown
      ? `The key of ${where} gives signatures that do not verify`
      : `Receipts are to be signed by the key ${inForce}, and ${where} holds ${own}. ` +
        "Put the right key there; if it is lost: npm run keys -- ledger recover";
    return { code: "key", waitsFor, says };
  } catch (error) {
    if (error instanceof SignerAway) return toSignerProblem(error);
    throw error;
  } finally {
    await key.close();
  }
}

const toSignerProblem = ({ message }: SignerAway): SignerProblem => ({
  code: "signer",
  waitsFor: "the signer's process",
  says: `${message}. Start it where the key is: npm run signer`,
});

/** Returns true where a rotation to this key was sealed, and the file is not in its place yet. */
function isNext(keyFile: string, publicKey: string): boolean {
  const path = nextKeyFile(keyFile);
  if (!existsSync(path)) return false;
  const next = openFileKey(path);
  void next.close();
  return next.publicKey.toString("hex") === publicKey;
}

/**
 * Returns true where the database lacks receipts that were committed. One of them may have introduced the key: they are put
 * back at the beginning of a turn, which then compares the key.
 */
async function hasLostReceipts({ store, keyFile, journal }: SignerProof): Promise<boolean> {
  const { state: { committed } } = await readSignerState(keyFile, journal);
  const { size } = await readNeeds(store); // after the journal, which is never ahead of it in what is committed
  return committed !== undefined && size < committed.size;
}

/** The log would make a second key under the same name, which contradicts the first. */
async function findCheckpointKeyProblem(
  { store, log }: SignerProof,
): Promise<SignerProblem | undefined> {
  if (existsSync(log.keyFile)) return undefined;
  const published = await getPublishedCheckpoint(store);
  if (!published) return undefined;
  if (parseCheckpoint(parseNote(published.note).text).origin !== log.origin) return undefined;
  return {
    code: "checkpoint_key",
    waitsFor: "the log's key",
    says:
      `The log's key, checkpoint.key, is missing, and checkpoints of ${log.origin} were signed with it. ` +
      "Put it back; if it is lost: set SEALOOP_LEDGER_ORIGIN to another name",
  };
}

async function findJournalProblem(
  { keyFile, journal }: SignerProof,
  size: number,
): Promise<SignerProblem | undefined> {
  const { state, damage } = await readSignerState(keyFile, journal);
  const signed = getSignedHead(state);
  const says = damage
    ? damage.message
    : !signed
    ? missingJournal(openPlace(keyFile, journal).name).message
    : signed.size < size
    ? `The database has ${size} receipts, and the signer's journal ends at ${signed.size}: it is older. ` +
      "Start from a checkpoint that is as new as possible: npm run restore -- --checkpoint <file>"
    : undefined;
  return says === undefined
    ? undefined
    : { code: "journal", waitsFor: "the signer's journal", says };
}
