/** Ids of actions, which prove that the platform made them. */
import type { Action } from "../../contract/domain/mod.ts";
import { canonicalize } from "../../ledger/mod.ts";
import { keyedHash, type Store } from "../../store/mod.ts";
import { actionHash } from "./_action.ts";
import type { RepairOrder } from "./_order.ts";

/** An order whose action may have no id yet. */
type UnidentifiedOrder = Omit<RepairOrder, "action"> & { readonly action: Pick<Action, "sha256"> };

/**
 * Returns the id of an action: of the one that was found in this round of this run, against this fault, for these reasons.
 * Receipts name the action by it, and it tells nothing of that.
 */
export async function actionIdOf(store: Store, order: UnidentifiedOrder): Promise<string> {
  const { ticket_id, finding, code, round, run, diagnosis, action } = order;
  const { classification, citations } = diagnosis;
  const found = { ticket_id, finding, code, classification, citations };
  const asStored = JSON.parse(JSON.stringify(found)); // by Temporal
  const parts = [run.workflow_id, run.run_id, String(round), action.sha256, canonicalize(asStored)];
  return (await keyedHash(store, "actions", ...parts)).toString("hex", 0, 12);
}

/**
 * Returns true where the platform made this action, for this round of this run and from this diagnosis. Its id is made with
 * a secret that workers alone read, so that whoever reaches Temporal can't make up an action, or reasons for one.
 */
export async function isOwnAction(store: Store, order: RepairOrder): Promise<boolean> {
  const { action } = order;
  return action.sha256 === actionHash(action) && action.id === await actionIdOf(store, order);
}
