/** Calls that people have approved and that wait for their run. */
import { groundsOf } from "../../contract/records/mod.ts";
import { actionOf, bindAction, sha256 } from "../../calls/approvals/mod.ts";
import { createHeldCallRunner } from "../../calls/held_calls/mod.ts";
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { type HeldCallResult, PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { openHolder, type Store } from "../../store/mod.ts";
import { putApproval, putHeldCall } from "../../store/approvals/mod.ts";
import { asSuperuser } from "../_superuser.ts";

/** A call of an agent's tool that people have approved. */
export interface ApprovedCall {
  readonly approvalId: string;
  readonly operation: Operation<Platform>;
  /** Name of the tool. */
  readonly as: string;
  readonly input: Record<string, unknown>;
  readonly keyId: string;
}

/** Stores a call with its approval. */
export async function putApprovedCall(store: Store, call: ApprovedCall): Promise<void> {
  const { approvalId, operation, as, input, keyId } = call;
  const db = asSuperuser(store);
  const caller = { keyId, tenant: PLATFORM_TENANT };
  const { action, text } = actionOf({ operation, request: { as }, caller, input });
  await putApproval(db, {
    id: approvalId,
    subject: `tool:${as}`,
    ticketId: null,
    description: "",
    ...bindAction(action, text),
    requestedBy: "agent",
    requestedByKey: keyId,
    needed: 1,
    expiresInSeconds: 60,
    escalateAfterSeconds: 0,
    grounds: groundsOf({}),
    askingRun: null,
  });
  await db.execute(
    "UPDATE approvals SET status = 'approved', decided_at = now() WHERE id = $1",
    [approvalId],
  );
  await putHeldCall(db, {
    approvalId,
    decisionId: `GOV-${approvalId.slice("APR-".length)}`,
    door: "mcp",
    tool: as,
    operation: operation.name,
    input: JSON.stringify(input),
    actionSha256: sha256(text),
    keyId,
    address: "127.0.0.1",
  });
}

/** Runs a call as its workflow does. @param operation instead of the platform's of that name */
export async function runApprovedCall(
  platform: Platform,
  approvalId: string,
  operation?: Operation<Platform>,
): Promise<HeldCallResult> {
  const operations = operation ? new Map([[operation.name, operation]]) : platform.operations;
  const holder = openHolder(platform.store);
  return await createHeldCallRunner({ ...platform, operations }, holder)({
    approvalId,
    run: { workflow_id: `act-${approvalId}`, run_id: "first" },
    intentReceiptId: `${approvalId}-intent`,
    outcomeReceiptId: `${approvalId}-outcome`,
  });
}
