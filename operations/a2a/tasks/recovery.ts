import {
  createTimeoutSignal,
  type LostCall,
  Problem,
  type Recovery,
} from "../../../contract/mod.ts";
import type { TaskRecord } from "../../../contract/domain/mod.ts";
import { getCallEffects } from "../../../store/calls/mod.ts";
import {
  findRequestedRun,
  noRun,
  notNoted,
  type RecoveryParts,
} from "../../../calls/recover/mod.ts";
import { taskWorkflowId } from "./begin.ts";
import { getTaskOfAnyKey } from "../../../store/a2a/mod.ts";
import { mapTemporalErrors } from "../../../calls/mod.ts";

/** Milliseconds to wait for the result of an update. */
const UPDATE_TIMEOUT_MS = 10_000;

/** Finds what a lost message or cancellation did: it began a task, or is an update whose id is that of its decision. */
export async function recoverTaskCall(call: LostCall, parts: RecoveryParts): Promise<Recovery> {
  const db = parts.store.db;
  const effect = await getCallEffects(db, call.decisionId);
  if (!effect) return notNoted(call);
  const task_id = effect.ids.task_id!;
  const workflowId = taskWorkflowId(task_id);
  if (effect.output?.held || await findRequestedRun(parts, workflowId, call)) {
    const output = await getTaskOfAnyKey<TaskRecord>(db, task_id) ?? null;
    return { state: "done", ids: { task_id }, output };
  }
  return await recoverUpdate(parts, workflowId, call, { task_id }) ?? noRun(workflowId, call);
}

/** @returns undefined where there is no such update */
async function recoverUpdate(
  { temporal }: RecoveryParts,
  workflowId: string,
  { decisionId }: LostCall,
  ids: Readonly<Record<string, string>>,
): Promise<Recovery | undefined> {
  const client = await temporal();
  const update = client.workflow.getHandle(workflowId).getUpdateHandle(decisionId);
  const missing = new Problem("NotFound", `There is no update ${decisionId} of ${workflowId}`);
  const signal = createTimeoutSignal(UPDATE_TIMEOUT_MS);
  const result = client.withAbortSignal(signal, () => update.result());
  try {
    return { state: "done", ids, output: await mapTemporalErrors(result, () => missing) };
  } catch (error) {
    if (error === missing) return undefined;
    if (!(error instanceof Problem) || error.rule.retryable) throw error;
    return { state: "failed", ids, error: { name: error.name, message: error.message } };
  }
}
