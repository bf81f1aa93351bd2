/** People who decide about approvals, as the gateway lets them. */
import type { Client } from "@temporalio/client";
import { type ApprovalState, approveUpdate, denyUpdate, reopenUpdate } from "../../domain/mod.ts";
import {
  getApproval,
  issueKey,
  type KeyRecord,
  type NewKey,
  putVote,
  type Store,
  type VoteMove,
} from "../../store/mod.ts";
import { eventually } from "../_time.ts";

const UPDATES = { approved: approveUpdate, denied: denyUpdate, reopened: reopenUpdate };

/** Somebody with a key that may approve. */
export async function createApprover(
  store: Store,
  principal: string,
  fields: Partial<NewKey> = {},
): Promise<KeyRecord> {
  const { record } = await issueKey(store.asPlatform(), {
    tenant: "test",
    tier: "partner",
    scope: "full",
    principal,
    mayApprove: true,
    expiresAt: null,
    ...fields,
  });
  return record;
}

/** Keeps what somebody says, as the gateway does before it tells the run. @returns id of the vote */
export async function storeVote(
  store: Store,
  approvalId: string,
  move: VoteMove,
  { id: keyId }: Pick<KeyRecord, "id">,
): Promise<string> {
  await eventually(() => getApproval(store.asPlatform(), approvalId));
  return await putVote(store.asPlatform(), { approvalId, move, keyId });
}

/** Says something, and waits for what that leads to. @throws why it is no move */
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
