/** Recovery of a lost call that asked a model. */
import type { LostCall, Recovery } from "../../../contract/mod.ts";
import { findModelUse } from "../../../store/platform/mod.ts";
import { notNoted } from "../../../calls/recover/mod.ts";
import { type Platform } from "../../../calls/mod.ts";

/** Recovers it: a call without a use has asked no model; the answer of one with a use is gone with its process. */
export async function recoverModelCall(
  call: LostCall,
  { store }: Pick<Platform, "store">,
): Promise<Recovery> {
  const use = await findModelUse(store.db, call.decisionId);
  if (!use) return notNoted(call);
  return { state: "unknown", look: `at receipt ${use.receiptId}, which says what was billed` };
}
