import { setTimeout as sleep } from "node:timers/promises";
import type { Client } from "@temporalio/client";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";

/** Starts the workflow in which the one sequencer runs, unless it is running. */
export async function ensureSequencer(client: Client): Promise<void> {
  await client.workflow.start(WORKFLOW.ledgerSequencer, {
    taskQueue: TASK_QUEUE.sequencer,
    workflowId: "ledger-sequencer",
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary: "Seals the requests in the outbox",
  });
}

/** Starts the workflow that starts the deliveries to webhooks and people, unless it is running. */
export async function ensureRelay(client: Client): Promise<void> {
  await client.workflow.start(WORKFLOW.relay, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: "relay",
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary: "Starts the deliveries to webhooks and people",
  });
}

/** Starts the workflow that reads the mailbox of replies, unless it is running. */
export async function ensureMailbox(client: Client): Promise<void> {
  await client.workflow.start(WORKFLOW.mailbox, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: "mailbox",
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary: "Reads the mailbox to which replies come",
  });
}

/**
 * Keeps a workflow running that never ends, until the signal: starts it again where somebody has ended it.
 *
 * @param ensure starts the workflow, unless it is running
 * @param intervalMs > 0
 */
export async function keepWorkflowRunning(
  client: Client,
  ensure: (client: Client) => Promise<void>,
  signal: AbortSignal,
  intervalMs = 20_000,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(intervalMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    // While Temporal is away nothing can be started. What was running continues when it is back.
    await ensure(client).catch(() => {});
  }
}
