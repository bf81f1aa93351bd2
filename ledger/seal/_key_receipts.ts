import { type KeyObject, sign } from "node:crypto";
import { prepareRequest } from "../receipts/mod.ts";
import { formatRotation, nameKey, type SuccessionCategory, type TrustedKey } from "../rules/mod.ts";
import type { ChainHead } from "../signer/mod.ts";
import { type LinkedReceipt, linkEntry } from "./_link.ts";

/** Actor of receipts that introduce keys. */
const ACTOR = "ledger-sequencer";
/** Number of no row of the outbox: nobody has requested these receipts. */
const NO_ROW = "0";

/** The keys of a ledger from a position on, as hex. */
export interface LedgerKeys {
  readonly ledgerKey: string;
  readonly recoveryKey: string;
}

/** Makes the first receipt of a new ledger. */
export function makeGenesis(keys: LedgerKeys): LinkedReceipt {
  return make("ledger_genesis", "began", { size: 0, hash: null }, nameOwn(keys));
}

/**
 * Makes the first own receipt after imported ones: it names them with their keys, and adopts them.
 *
 * @param replaced describes the ledger of this platform that was lost, where this one continues it
 */
export function makeAdoption(
  head: ChainHead,
  imported: readonly TrustedKey[],
  keys: LedgerKeys,
  replaced?: Readonly<Record<string, unknown>>,
): LinkedReceipt {
  return make("ledger_adopted", replaced ? "replaced" : "adopted", head, {
    ...nameOwn(keys),
    ...(replaced && { replaces: replaced }),
    size: head.size,
    head: head.hash!.toString("hex"),
    keys: imported.map(nameKey),
  });
}

/** A change to a new key. */
export interface KeyChange {
  readonly head: ChainHead;
  /** The published keys, in order. The last one is the old ledger key. */
  readonly keys: readonly TrustedKey[];
  readonly newKey: { readonly privateKey: KeyObject; readonly publicKey: Buffer };
  /** The recovery key from then on; only the recovery key itself may sign that it changes. */
  readonly recoveryKey: string;
}

/** Makes the receipt that hands over to a new key. The old key or the recovery key is to sign it. */
export function makeRotation(
  outcome: "rotated" | "recovered",
  { head, keys, newKey, recoveryKey }: KeyChange,
): LinkedReceipt {
  const rotation = {
    firstKey: keys.find((key) => key.recoveryKey !== undefined)!.publicKey,
    oldKey: keys.at(-1)!.publicKey,
    newKey: newKey.publicKey.toString("hex"),
    position: head.size,
    previousHash: head.hash!.toString("hex"),
  };
  const proof = sign(null, Buffer.from(formatRotation(rotation)), newKey.privateKey);
  return make("key_rotated", outcome, head, {
    first_key: rotation.firstKey,
    old_key: rotation.oldKey,
    new_key: rotation.newKey,
    recovery_key: recoveryKey,
    from_position: head.size + 1,
    new_key_signature: proof.toString("hex"),
  });
}

function nameOwn({ ledgerKey, recoveryKey }: LedgerKeys) {
  return { ledger_key: ledgerKey, recovery_key: recoveryKey };
}

function make(
  category: SuccessionCategory,
  outcome: string,
  head: ChainHead,
  details: Readonly<Record<string, unknown>>,
): LinkedReceipt {
  const { id, payload } = prepareRequest({
    category,
    actor: ACTOR,
    subject: "ledger-key",
    action: "introduce_key",
    outcome,
    details,
  });
  return linkEntry({ seq: NO_ROW, id, category, payload, at: new Date() }, head);
}
