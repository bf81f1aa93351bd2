/** Waiting for runs of workflows, and telling a caller how far they are. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Client, WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import { ApplicationFailure } from "@temporalio/common";
import {
  AGENTS,
  ERRORS,
  mediaProgressQuery,
  NODES,
  nodesQuery,
  type Progress,
  progressQuery,
  reportsQuery,
  STEPS,
  WORKFLOW,
} from "../contract/domain/mod.ts";
import { createTimeoutSignal } from "../contract/mod.ts";
import type { Context } from "./platform.ts";
import { mapTemporalErrors } from "./temporal_errors.ts";

/** The end of a run. */
export type RunEnd = { result: unknown } | { failure: { message: string; type: string } };

/** Progress of a run, for a person. */
interface RunProgress {
  readonly done: number;
  readonly total: number;
  readonly message: string;
  /** Approval that it waits for. */
  readonly approvalId?: string;
}

/** Returns how far a run is; undefined: nothing can be said, or nothing yet. */
type ProgressReader = () => Promise<RunProgress | undefined>;

const POLL_MS = 250;
/** Workflows that make media, which tell their progress themselves. */
const MEDIA: ReadonlySet<string> = new Set([
  WORKFLOW.speech,
  WORKFLOW.transcription,
  WORKFLOW.video,
]);

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
      return { failure: reasonOf(error) };
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

/** Returns the typed error that a run has failed with, or the cause of all others. */
function reasonOf(error: Error): { readonly message: string; readonly type: string } {
  const type = error instanceof ApplicationFailure ? error.type : undefined;
  if (type && Object.hasOwn(ERRORS, type)) return { message: error.message, type };
  if (error.cause instanceof Error) return reasonOf(error.cause);
  return { message: error.message, type: error.name };
}

/** Workflows that wait for people's approval of a repair, or whose loops do. */
const ASKS: ReadonlySet<string> = new Set([
  WORKFLOW.itsmLoop,
  WORKFLOW.itsmSweep,
  WORKFLOW.itsmTest,
]);
/** A run that no worker answers for tells nothing. */
const QUERY_TIMEOUT_MS = 2_000;

/** Returns the approval that a run waits for now; undefined: none, or nobody can tell. */
export async function awaitedApproval(
  client: Client,
  handle: WorkflowHandle,
  type: string,
): Promise<string | undefined> {
  if (!ASKS.has(type)) return undefined;
  const read = progressReader(client, handle, type);
  const progress = await client.withAbortSignal(createTimeoutSignal(QUERY_TIMEOUT_MS), read)
    .catch(() => undefined);
  return progress?.approvalId;
}

/**
 * Waits for a run until it has ended or asks people, and reports each of its steps as progress: those of the loop, also where that is a child of the run,
 * the nodes of the reasoning pipeline, or the reports of the crew.
 *
 * @param type of the run's workflow
 * @param seconds longest to wait, ≥ 0
 */
export async function followRun(
  { signal, progress }: Pick<Context, "signal" | "progress">,
  client: Client,
  handle: WorkflowHandle,
  type: string,
  seconds: number,
): Promise<RunEnd | undefined> {
  if (seconds === 0) return undefined;
  const over = new AbortController();
  const asks = new AbortController();
  const read = progressReader(client, handle, type);
  const reporting = reportProgress(client, read, over.signal, (done, total, message, isAsking) => {
    progress(done, total, message);
    if (isAsking) asks.abort();
  });
  try {
    const until = AbortSignal.any([signal, asks.signal]);
    return await mapTemporalErrors(waitForRun(client, handle, seconds, until));
  } finally {
    over.abort();
    await reporting;
  }
}

/** Reports each step once. A query that fails is repeated at the next poll. */
async function reportProgress(
  client: Client,
  read: ProgressReader,
  over: AbortSignal,
  report: (done: number, total: number, message: string, isAsking: boolean) => void,
): Promise<void> {
  let lastMessage = "";
  let highest = -1;
  while (!over.aborted) {
    // A query that no worker answers is aborted once nobody waits any more. The client never removes its listeners, so
    // each query gets a signal of its own.
    const signal = AbortSignal.any([over]);
    const progress = await client.withAbortSignal(signal, read).catch(() => undefined);
    if (progress && !over.aborted) {
      const { done, total, message, approvalId } = progress;
      if (message !== lastMessage && done > highest) {
        report(done, total, message, approvalId !== undefined);
      }
      lastMessage = message;
      highest = Math.max(highest, done);
    }
    await sleep(POLL_MS, undefined, { signal: over }).catch(() => {});
  }
}

/** Returns the current step of a run, for a person; null: its type has none. */
export async function currentStep(
  client: Client,
  handle: WorkflowHandle,
  type: string,
): Promise<string | null> {
  const progress = await progressReader(client, handle, type)();
  return progress ? `${Math.floor(progress.done)}/${progress.total} ${progress.message}` : null;
}

function progressReader(client: Client, handle: WorkflowHandle, type: string): ProgressReader {
  if (type === WORKFLOW.reasoning) return () => nodesProgress(handle);
  if (type === WORKFLOW.crew) return () => reportsProgress(handle);
  if (MEDIA.has(type)) return () => handle.query(mediaProgressQuery);
  let loop: WorkflowHandle | undefined;
  return async () => {
    loop ??= await loopOf(client, handle);
    return loop && loopProgress(await loop.query(progressQuery));
  };
}

async function nodesProgress(handle: WorkflowHandle): Promise<RunProgress | undefined> {
  const nodes = await handle.query(nodesQuery);
  const last = nodes.at(-1);
  if (!last) return undefined;
  return { done: nodes.length, total: NODES.length, message: `${last.node}: ${last.found}` };
}

async function reportsProgress(handle: WorkflowHandle): Promise<RunProgress | undefined> {
  const reports = await handle.query(reportsQuery);
  const last = reports.at(-1);
  if (!last) return undefined;
  const total = 2 * AGENTS.length - 1; // a second round has no triage
  return { done: reports.length, total, message: `${last.agent}: ${last.says[0] ?? ""}` };
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
function loopProgress({ step, round, ticket_id, approval_id, steps }: Progress): RunProgress {
  const done = steps.length + (approval_id ? 0.5 : 0);
  const left = step === null ? 0 : STEPS.length - STEPS.indexOf(step);
  const words = [
    step ?? "ended",
    ...(round > 1 ? [`round ${round}`] : []),
    ...(ticket_id ? [ticket_id] : []),
    ...(approval_id ? [`waits for ${approval_id}`] : []),
  ];
  const total = Math.max(STEPS.length, steps.length + left);
  return {
    done,
    total,
    message: words.join(" · "),
    ...(approval_id ? { approvalId: approval_id } : {}),
  };
}
