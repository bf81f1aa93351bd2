/** What tasks of agents do with calls of tools. */
import { randomBytes } from "node:crypto";
import { ruledSignal, type SeenRun, type StartedRun } from "../../domain/mod.ts";
import {
  type ActRecord,
  collectAct,
  getAct,
  getApproval,
  tasksOfApproval,
  withdrawAct,
} from "../../store/mod.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { WorkflowNotFoundError } from "@temporalio/client";
import type { TaskCalls } from "../../activities/mod.ts";
import { type Operation, Problem } from "../../contract/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { detailsOf } from "../_approved_call_end.ts";
import { stepOf } from "./_steps.ts";
import { told } from "../temporal_errors.ts";
import { taskWorkflowOf } from "./begin.ts";
import type { Platform } from "../platform.ts";

const LOOK_EVERY_MS = 250;
/** As Temporal names the ends of runs; the others are failures. */
const ENDS: Readonly<Record<string, SeenRun["state"]>> = {
  COMPLETED: "completed",
  CANCELLED: "canceled",
};

/** Gives what does it with these operations. */
export function createTaskCalls(
  platform: Pick<Platform, "store" | "temporal">,
  operations: readonly Operation<Platform>[],
): TaskCalls {
  const { store } = platform;
  const longOf = (skill: string) =>
    operations.find(({ tool }) => tool && Object.hasOwn(tool, skill))?.longRunning;
  const runOf = async ({ workflow_id, run_id }: StartedRun) =>
    (await platform.temporal()).workflow.getHandle(workflow_id, run_id);
  const actOf = async (id: string): Promise<ActRecord> => {
    const act = await getAct(store.asPlatform(), id);
    if (!act) throw new Problem("NotFound", `There is no call that ${id} allows`);
    return act;
  };

  /** What an approved call gave, and the run that it has started and that goes on. */
  function givenBy(act: ActRecord): { output: unknown; given?: StartedRun } {
    const output = JSON.parse(act.output!);
    const goesOn = longOf(act.tool) && output?.workflow_id &&
      (output.status === undefined || output.status === "RUNNING");
    return goesOn ? { output, given: output } : { output };
  }

  return {
    async see({ run, step, seconds }, signal) {
      const client = await platform.temporal();
      const handle = await runOf(run);
      const until = Date.now() + seconds * 1_000;
      while (true) {
        const about = await told(handle.describe()).catch((error) => {
          if (error instanceof WorkflowNotFoundError) return undefined;
          throw error;
        });
        if (!about) return { state: "failed", step: null, failure: "it is not on record any more" };
        const { status, type } = about;
        if (status.name !== "RUNNING") {
          const state = ENDS[status.name] ?? "failed";
          if (state !== "failed") return { state, step: null };
          return { state, step: null, failure: await failureOf(handle.result()) };
        }
        const now = await stepOf(client, handle, type).catch(() => null);
        if (now !== null && now !== step || Date.now() >= until) {
          return { state: "running", step: now ?? step };
        }
        await sleep(LOOK_EVERY_MS, undefined, { signal });
      }
    },
    async cancel({ skill, run }) {
      if (longOf(skill)?.shared) return false;
      await told((await runOf(run)).cancel()).catch((error) => {
        if (!(error instanceof WorkflowNotFoundError)) throw error; // it has ended meanwhile
      });
      return true;
    },
    async ruled(approvalId) {
      const act = await actOf(approvalId);
      if (act.endedAt) await collectAct(store.asPlatform(), act); // the same call is another one from now on
      else {
        const { status } = (await getApproval(store.asPlatform(), approvalId))!;
        return { state: status };
      }
      if (act.state !== "done") {
        return { state: act.state as "failed", ...(act.error ? { error: act.error.message } : {}) };
      }
      const { given } = givenBy(act);
      return { state: "done", ...(given ? { given } : {}) };
    },
    async withdraw({ approval_id, task_id }) {
      const { keyId } = await actOf(approval_id);
      return await store.asPlatform().transaction(async (trx) => {
        const others = (await tasksOfApproval(trx, keyId, approval_id)).filter((id) =>
          id !== task_id
        );
        const act = (await getAct(trx, approval_id))!;
        if (others.length > 0) return act.state === "waiting";
        const message = `${approval_id} is not run: its caller has canceled the task`;
        const error = { name: "Cancelled", message };
        const receiptId = randomBytes(8).toString("hex");
        if (!await withdrawAct(trx, approval_id, { error, receiptId })) {
          return act.error?.name === "Cancelled"; // by an attempt before this one
        }
        await requestSeal(trx, {
          ...{ id: receiptId, category: "governed_act", actor: `key:${keyId}` },
          ...{ subject: act.tool, action: act.operation, outcome: "canceled" },
          ...{ details: detailsOf(act), evidence: { error: message } },
        });
        return true;
      });
    },
    async result({ task, skill, ...from }) {
      let output: unknown;
      let metadata = task.metadata;
      if (task.approval_id !== undefined) {
        const act = await actOf(task.approval_id);
        output = givenBy(act).output;
        metadata = { ...metadata, "sealoop/receipt_id": act.receiptId, receipt_id: act.receiptId };
      }
      if ("run" in from) {
        const result = await told((await runOf(from.run)).result());
        output = longOf(skill)!.outcome(from.run, result);
      }
      const data = isObject(output) ? output : { result: output ?? null };
      const artifacts = task.artifacts.map((artifact) => ({ ...artifact, parts: [{ data }] }));
      return { ...task, artifacts, ...(metadata ? { metadata } : {}) };
    },
    async tell(approvalId) {
      const act = await getAct(store.asPlatform(), approvalId);
      if (!act) return;
      const client = await platform.temporal();
      for (const id of await tasksOfApproval(store.asPlatform(), act.keyId, approvalId)) {
        await client.workflow.getHandle(taskWorkflowOf(id)).signal(ruledSignal).catch((error) => {
          if (!(error instanceof WorkflowNotFoundError)) throw error; // it begins by looking itself
        });
      }
    },
  };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

async function failureOf(result: Promise<unknown>): Promise<string> {
  const rootOf = (error: Error): Error =>
    error.cause instanceof Error ? rootOf(error.cause) : error;
  return await result.then(
    () => "it ended",
    (error) => error instanceof Error ? rootOf(error).message : String(error),
  );
}
