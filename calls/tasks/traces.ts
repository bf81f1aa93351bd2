import { type LostCall, Problem, createTimeoutSignal, type Recovery } from "../../contract/mod.ts";
import type { TaskRecord } from "../../domain/mod.ts";
import { anyTask, callTrace } from "../../store/mod.ts";
import { markedRun } from "../recover/marks.ts";
import { told } from "../temporal_errors.ts";
import { type Looking, noRun, unnoted } from "../recover/traces.ts";
import { taskWorkflowOf } from "./begin.ts";

/** What is asked of a task's workflow is waited for so long, in milliseconds. */
const ANSWERS_MS = 10_000;

/** What a message did, or a cancelling: it began a task, or it is an update of one, whose id is that of its decision. */
export async function traceInTask(call: LostCall, platform: Looking): Promise<Recovery> {
  const noted = await callTrace(platform.store.asPlatform(), call.decisionId);
  if (!noted) return unnoted(call);
  const task_id = noted.ids.task_id!;
  const workflowId = taskWorkflowOf(task_id);
  const output = async () => await anyTask<TaskRecord>(platform.store.asPlatform(), task_id) ?? null;
  if (noted.given?.held || await markedRun(platform, workflowId, call)) {
    return { state: "done", ids: { task_id }, output: await output() };
  }
  return await traceUpdate(platform, workflowId, call, { task_id }) ?? noRun(workflowId, call);
}

/** @returns undefined where there is no such update */
async function traceUpdate(
  { temporal }: Looking,
  workflowId: string,
  { decisionId }: LostCall,
  ids: Readonly<Record<string, string>>,
): Promise<Recovery | undefined> {
  const client = await temporal();
  const update = client.workflow.getHandle(workflowId).getUpdateHandle(decisionId);
  const missing = new Problem("NotFound", `There is no update ${decisionId} of ${workflowId}`);
  const end = client.withAbortSignal(createTimeoutSignal(ANSWERS_MS), () => update.result());
  try {
    return { state: "done", ids, output: await told(end, () => missing) };
  } catch (error) {
    if (error === missing) return undefined;
    if (!(error instanceof Problem) || error.rule.retryable) throw error;
    return { state: "failed", ids, error: { name: error.name, message: error.message } };
  }
}
