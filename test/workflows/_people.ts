/** People who decide about approvals. */
import type { Client } from "@temporalio/client";
import {
  type ApprovalState,
  approveUpdate,
  denyUpdate,
  reopenUpdate,
} from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { getApproval, putVote, type VoteMove } from "../../store/approvals/mod.ts";
import type { KeyRecord, NewKey } from "../../store/keys/mod.ts";
import { eventually } from "../_time.ts";
import { storeAs } from "../_servers.ts";
import { giveKey } from "../_superuser.ts";

const UPDATES = { approved: approveUpdate, denied: denyUpdate, reopened: reopenUpdate };

/** Creates a person with a key that may approve. */
export async function createApprover(
  store: Store,
  principal: string,
  fields: Partial<NewKey> = {},
): Promise<KeyRecord> {
  const { record } = await giveKey(store, {
    tier: "partner",
    scope: "full",
    principal,
    mayApprove: true,
    expiresAt: null,
    ...fields,
  });
  return record;
}

/** Stores a vote once people can decide, as the gateway does before it sends the update. @returns id of the vote */
export async function storeVote(
  store: Store,
  approvalId: string,
  move: VoteMove,
  { id: keyId }: Pick<KeyRecord, "id">,
): Promise<string> {
  await eventually(async () => {
    const approval = await getApproval(store.asPlatform(), approvalId);
    return approval?.moves ? approval : undefined; // else its workflow has not begun
  });
  const gateway = await storeAs(store, "gateway");
  return await putVote(gateway.asPlatform(), { approvalId, move, keyId });
}

/** Casts a vote, and waits for the move that it makes. @throws {WorkflowUpdateFailedError} it makes none */
export async function vote(
  { store, client }: { readonly store: Store; readonly client: Client },
  approvalId: string,
  move: VoteMove,
  by: Pick<KeyRecord, "id">,
): Promise<ApprovalState> {
  const vote_id = await storeVote(store, approvalId, move, by);
  return await client.workflow.getHandle(`approval-${approvalId}`)
    .executeUpdate(UPDATES[move], { args: [{ vote_id }] });
}
