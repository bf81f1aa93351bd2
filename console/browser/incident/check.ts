/** Verifies the receipts of an incident in this browser, by the code of the ledger's page. */
import { checkInclusion, checkReceipt, NOBLE, type Step } from "../../../ledger/page/checks/mod.ts";
import { listProvenKeys, proveKeys, type TrustedKey } from "../../../ledger/rules/mod.ts";
import { NOTHING_PINNED } from "../../../ledger/trust/mod.ts";
import type { Proofs } from "./shapes.ts";

/** Result of a check of one receipt. */
export interface Verdict {
  /** `unlogged`: all holds, and no signed checkpoint contains it yet. `open`: something could not be checked. */
  readonly state: "checked" | "unlogged" | "broken" | "open";
  readonly text: string;
  readonly steps: readonly Step[];
}

/** Returns the published keys, as far as receipts introduce them. */
export async function readKeys(
  { keys, introductions, size }: Proofs,
): Promise<readonly TrustedKey[]> {
  const named = keys.map(({ public_key, from_position, recovery_key }) => ({
    publicKey: public_key,
    fromPosition: from_position,
    ...(recovery_key === undefined ? {} : { recoveryKey: recovery_key }),
  }));
  const recordAt = (position: number) =>
    Promise.resolve(introductions.find((one) => one.position === position)?.record);
  return listProvenKeys(named, await proveKeys(named, size, recordAt, NOBLE));
}

/** Checks one receipt: hash, canonical form, signature, links to its neighbours, and its place in the signed log. */
export function checkOne(
  { id, position, record, before, after, inclusion }: Proofs["receipts"][number],
  { checkpoint }: Proofs,
  keys: readonly TrustedKey[],
): Verdict {
  const receipt = {
    asked: id,
    position,
    record,
    before: before ?? undefined,
    after: after ?? undefined,
  };
  const proof = inclusion && checkpoint
    ? { tree_size: checkpoint.tree_size, hashes: inclusion, checkpoint: checkpoint.note }
    : undefined;
  const log = { trust: NOTHING_PINNED, verifierKey: checkpoint?.verifier_key };
  return conclude([
    ...checkReceipt(receipt, keys, NOBLE),
    checkInclusion({ id, position, record }, proof, log, NOBLE),
  ]);
}

function conclude(steps: readonly Step[]): Verdict {
  const named = (state: Step["state"]) =>
    steps.filter((step) => step.state === state).map(({ name }) => name.toLowerCase()).join(", ");
  if (named("fail")) return { state: "broken", text: `BROKEN: ${named("fail")}`, steps };
  if (named("not_checked")) {
    return { state: "open", text: `could not be checked: ${named("not_checked")}`, steps };
  }
  if (named("pending")) {
    return { state: "unlogged", text: "holds; the signed log does not contain it yet", steps };
  }
  return { state: "checked", text: "checked in this browser", steps };
}
