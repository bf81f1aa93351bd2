import type pg from "pg";
import { NODE_PRIMITIVES } from "../crypto/mod.ts";
import { isSuccession, type Place, type TrustedKey, verifyRecord } from "../rules/mod.ts";
import { type ChainHead, type CommittedReceipt, getHeadAfter } from "../signer/mod.ts";
import { appendReceipts, settleRequests } from "./_append.ts";

/** Rows of the outbox are found by the receipts' ids. */
const NO_ROW = "0";

/** Returns the place of the receipt after an end of the chain. */
export function toPlace({ size, hash }: ChainHead): Place {
  const previousHash = hash?.toString("hex") ?? "";
  return size === 0
    ? { position: 0, previousHash }
    : { position: size, previousHash, previousEra: 3 };
}

/**
 * Verifies an exported receipt at its place.
 *
 * @param refuse returns the error to throw where it does not hold, from the reason
 */
export function verifyNext(
  text: string,
  place: Place,
  keys: readonly TrustedKey[],
  refuse: (reason: string) => Error,
): CommittedReceipt {
  const { position } = place;
  const { verdict, era } = verifyRecord(text, place, keys, NODE_PRIMITIVES);
  if (!verdict.verified || era !== 3) {
    const why = verdict.reasons.join("; ") || `it is of era ${era}`;
    throw refuse(`does not hold: ${why}`);
  }
  const { id, category, canonical_bytes, hash_sha256, signature } = JSON.parse(text);
  return {
    position,
    id,
    category,
    seq: NO_ROW,
    record: Buffer.from(canonical_bytes, "hex"),
    hash: Buffer.from(hash_sha256, "hex"),
    signature: Buffer.from(signature.value, "hex"),
    publicKey: Buffer.from(signature.public_key, "hex"),
  };
}

/** Appends receipts that were verified, and settles their requests. @returns the end of the chain with them */
export async function appendVerified(
  client: pg.ClientBase,
  head: ChainHead,
  receipts: readonly CommittedReceipt[],
): Promise<ChainHead> {
  let before = head;
  for (const run of groupByKey(receipts)) {
    const batch = { before, receipts: run };
    const signed = {
      publicKey: run[0]!.publicKey,
      signatures: run.map(({ signature }) => signature),
    };
    await appendReceipts(client, batch, signed, []);
    await settleRequests(client, batch);
    before = getHeadAfter(batch);
  }
  return before;
}

/** Groups receipts by the key that signed them. Those that introduce keys are appended one by one. */
function groupByKey(receipts: readonly CommittedReceipt[]): CommittedReceipt[][] {
  const runs: CommittedReceipt[][] = [];
  for (const receipt of receipts) {
    const run = runs.at(-1);
    const last = run?.at(-1);
    const isAlone = isSuccession(receipt.category) || last && isSuccession(last.category);
    if (run && !isAlone && last!.publicKey.equals(receipt.publicKey)) run.push(receipt);
    else runs.push([receipt]);
  }
  return runs;
}
