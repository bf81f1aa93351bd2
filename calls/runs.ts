/** Waiting for runs of workflows, and telling a caller how far they are. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import {
  AGENTS,
  NODES,
  nodesQuery,
  type Progress,
  progressQuery,
  reportsQuery,
  STEPS,
  WORKFLOW,
} from "../domain/mod.ts";
import type { Context } from "./platform.ts";
import { mapTemporalErrors } from "./temporal_errors.ts";

/** The end of a run. */
export type RunEnd = { result: unknown } | { failure: { message: string; type: string } };

const POLL_MS = 250;

/**
 * Waits for the end of a run. Temporal is not asked any longer than the caller waits, since a run may take days and be
 * asked about often.
 *
 * @param seconds longest to wait, ≥ 0
 * @returns undefined where the run has not ended within the time, or the caller has gone
 */
export async function waitForRun(
  client: Client,
  handle: Pick<WorkflowHandle, "result">,
  seconds: number,
  signal: AbortSignal,
): Promise<RunEnd | undefined> {
  const over = new AbortController();
  const end = client.withAbortSignal(over.signal, () => handle.result()).then(
    (value): RunEnd => ({ result: value ?? null }),
    (error): RunEnd => {
      if (!(error instanceof WorkflowFailedError)) throw error;
      const { message, name } = rootOf(error);
      return { failure: { message, type: name } };
    },
  );
  end.catch(() => {}); // nobody waits for an aborted request
  const waiting = AbortSignal.any([over.signal, signal]);
  const timeout = sleep(seconds * 1000, undefined, { signal: waiting }).catch(() => undefined);
  try {
    return await Promise.race([end, timeout]);
  } finally {
    over.abort();
  }
}

const rootOf = (error: Error): Error => error.cause instanceof Error ? rootOf(error.cause) : error;

/**
 * Waits for a run of the loop, or for one whose child it is, and reports each step as progress.
 *
 * @param seconds longest to wait, ≥ 0
 */
export async function followLoop(
  { signal, progress }: Pick<Context, "signal" | "progress">,
  client: Client,
  handle: WorkflowHandle,
  seconds: number,
): Promise<RunEnd | undefined> {
  if (seconds === 0) return undefined;
  const over = new AbortController();
  const reporting = reportSteps(client, handle, over.signal, progress);
  try {
    return await mapTemporalErrors(waitForRun(client, handle, seconds, signal));
  } finally {
    over.abort();
    await reporting;
  }
}

/** Reports each step once. A query that fails is repeated at the next poll. */
async function reportSteps(
  client: Client,
  handle: WorkflowHandle,
  over: AbortSignal,
  report: Context["progress"],
): Promise<void> {
  let lastMessage = "";
  let highest = -1;
  let loop: WorkflowHandle | undefined;
  while (!over.aborted) {
    // A query that no worker answers is aborted once nobody waits any more.
    const progress = await client.withAbortSignal(over, async () => {
      loop ??= await loopOf(client, handle);
      return await loop?.query(progressQuery);
    }).catch(() => undefined);
    if (progress && !over.aborted) {
      const { done, total, message } = progressText(progress);
      if (message !== lastMessage && done > highest) report(done, total, message);
      lastMessage = message;
      highest = Math.max(highest, done);
    }
    await sleep(POLL_MS, undefined, { signal: over }).catch(() => {});
  }
}

/** Returns the run itself where it is a loop, or the loop that is its child. */
async function loopOf(
  client: Client,
  handle: WorkflowHandle,
): Promise<WorkflowHandle | undefined> {
  const { type, raw } = await handle.describe();
  if (type === WORKFLOW.itsmLoop) return handle;
  const child = raw.pendingChildren?.find(({ workflowTypeName }) =>
    workflowTypeName === WORKFLOW.itsmLoop
  );
  return child?.workflowId ? client.workflow.getHandle(child.workflowId) : undefined;
}

/** Waiting for people counts as half a step, since reported progress has to grow. */
function progressText({ step, round, ticket_id, approval_id, steps }: Progress) {
  const done = steps.length + (approval_id ? 0.5 : 0);
  const left = step === null ? 0 : STEPS.length - STEPS.indexOf(step);
  const words = [
    step ?? "ended",
    ...(round > 1 ? [`round ${round}`] : []),
    ...(ticket_id ? [ticket_id] : []),
    ...(approval_id ? [`waits for ${approval_id}`] : []),
  ];
  return { done, total: Math.max(STEPS.length, steps.length + left), message: words.join(" · ") };
}

/** Returns the current step of a run, for a person; null: its type has none. */
export async function currentStep(
  client: Client,
  handle: WorkflowHandle,
  type: string,
): Promise<string | null> {
  if (type === WORKFLOW.reasoning) {
    const nodes = await handle.query(nodesQuery);
    const last = nodes.at(-1);
    return last ? `${nodes.length}/${NODES.length} ${last.node}: ${last.found}` : null;
  }
  if (type === WORKFLOW.crew) {
    const reports = await handle.query(reportsQuery);
    const last = reports.at(-1);
    if (!last) return null;
    return `${reports.length}/${2 * AGENTS.length - 1} ${last.agent}: ${last.says[0] ?? ""}`;
  }
  const loop = await loopOf(client, handle);
  if (!loop) return null;
  const { done, total, message } = progressText(await loop.query(progressQuery));
  return `${Math.floor(done)}/${total} ${message}`;
}
