import { setTimeout as sleep } from "node:timers/promises";
import { type Progress, progressQuery, STEPS } from "../domain/mod.ts";
import { type Client, WorkflowFailedError, type WorkflowHandle } from "@temporalio/client";
import { told } from "./temporal_errors.ts";
import type { Context } from "./platform.ts";

/** How a run ended. */
export type Ended = { result: unknown } | { failure: { message: string; type: string } };

const LOOK_EVERY_MS = 250;

/**
 * How a run ended, or undefined where it has not within the time, or where the caller has gone. Temporal is not asked any
 * longer then: a run may go on for days, and be asked for often.
 *
 * @param seconds longest to wait, ≥ 0
 */
export async function endWithin(
  client: Client,
  handle: Pick<WorkflowHandle, "result">,
  seconds: number,
  signal: AbortSignal,
): Promise<Ended | undefined> {
  const over = new AbortController();
  const end = client.withAbortSignal(over.signal, () => handle.result()).then(
    (value): Ended => ({ result: value ?? null }),
    (error): Ended => {
      if (!(error instanceof WorkflowFailedError)) throw error;
      return { failure: { message: rootOf(error).message, type: rootOf(error).name } };
    },
  );
  end.catch(() => {}); // of a question that was taken back
  const waiting = AbortSignal.any([over.signal, signal]);
  const late = sleep(seconds * 1000, undefined, { signal: waiting }).catch(() => undefined);
  try {
    return await Promise.race([end, late]);
  } finally {
    over.abort();
  }
}

const rootOf = (error: Error): Error => error.cause instanceof Error ? rootOf(error.cause) : error;

/**
 * Waits for a run of the loop, or for one whose child it is, and tells the caller of each step.
 *
 * @param seconds longest to wait, ≥ 0
 */
export async function followLoop(
  { signal, progress }: Pick<Context, "signal" | "progress">,
  client: Client,
  handle: WorkflowHandle,
  seconds: number,
): Promise<Ended | undefined> {
  if (seconds === 0) return undefined;
  const over = new AbortController();
  const looking = look(client, handle, over.signal, progress);
  try {
    return await told(endWithin(client, handle, seconds, signal));
  } finally {
    over.abort();
    await looking;
  }
}

/** Tells of each step once. What can't be asked at the moment is asked again. */
async function look(
  client: Client,
  handle: WorkflowHandle,
  over: AbortSignal,
  tell: Context["progress"],
): Promise<void> {
  let said = "";
  let most = -1;
  let loop: WorkflowHandle | undefined;
  while (!over.aborted) {
    // A question that no worker answers is taken back once nobody waits any more.
    const now = await client.withAbortSignal(over, async () => {
      loop ??= await loopOf(client, handle);
      return await loop?.query(progressQuery);
    }).catch(() => undefined);
    if (now && !over.aborted) {
      const { done, total, message } = inWords(now);
      if (message !== said && done > most) tell(done, total, message);
      [said, most] = [message, Math.max(most, done)];
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal: over }).catch(() => {});
  }
}

/** The run itself, or the loop that it has started. */
export async function loopOf(
  client: Client,
  handle: WorkflowHandle,
): Promise<WorkflowHandle | undefined> {
  const { type, raw } = await handle.describe();
  if (type === "itsmLoop") return handle;
  const child = raw.pendingChildren?.find(({ workflowTypeName }) =>
    workflowTypeName === "itsmLoop"
  );
  return child?.workflowId ? client.workflow.getHandle(child.workflowId) : undefined;
}

/** Waiting for people is half a step, as what is told has to grow. */
export function inWords({ step, round, ticket_id, approval_id, steps }: Progress) {
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
