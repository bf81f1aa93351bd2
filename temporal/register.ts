import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import type { Config, TemporalSettings } from "../config.ts";

/** @see temporal.api.enums.v1.IndexedValueType */
const INDEXED_VALUE = {
  Text: 1,
  Keyword: 2,
  Int: 3,
  Double: 4,
  Bool: 5,
  Datetime: 6,
  KeywordList: 7,
} as const;

/** Codes of gRPC answers. @see google.rpc.Code */
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const DAY_SECONDS = 86_400;

/** One entry of `schedules`. */
type ScheduleSettings = TemporalSettings["schedules"][string];

/**
 * Brings Temporal in line with `temporal.yaml`: search attributes where they are missing, how long histories are kept
 * where that is shorter, and schedules as they are now. Safe to repeat, and by several processes at once.
 */
export async function registerTemporal(
  client: Client,
  { temporal, settings }: Config,
): Promise<void> {
  await addSearchAttributes(client, temporal.search_attributes);
  await keepHistories(client, temporal.retention_days);
  await Promise.all(
    Object.entries(temporal.schedules).map(([name, schedule]) => {
      const seconds = name === "sweep" ? settings.SEALOOP_SWEEP_SECONDS : undefined;
      const every = seconds === undefined ? schedule.every : `${seconds}s`;
      return putSchedule(client, `sealoop-${name}`, { ...schedule, every });
    }),
  );
}

async function addSearchAttributes(
  client: Client,
  wanted: TemporalSettings["search_attributes"],
): Promise<void> {
  const { namespace } = client.options;
  const { operatorService } = client.connection;
  const { customAttributes } = await operatorService.listSearchAttributes({ namespace });
  const missing = Object.entries(wanted).filter(([name]) => !(name in customAttributes));
  if (missing.length === 0) return;
  const searchAttributes = Object.fromEntries(
    missing.map(([name, type]) => [name, INDEXED_VALUE[type]]),
  );
  try {
    await operatorService.addSearchAttributes({ namespace, searchAttributes });
  } catch (error) {
    if ((error as { code?: number }).code !== ALREADY_EXISTS) throw error;
  }
}

/** Whoever runs a cluster may let nobody else decide this: then it stays as it is. */
async function keepHistories({ options: { namespace }, connection }: Client, days: number) {
  const { workflowService } = connection;
  const seconds = days * DAY_SECONDS;
  try {
    const { config } = await workflowService.describeNamespace({ namespace });
    const kept = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    if (kept >= seconds) return;
    await workflowService.updateNamespace({
      namespace,
      config: { workflowExecutionRetentionTtl: msToTs(seconds * 1000) },
    });
  } catch (error) {
    const { code } = error as { code?: number };
    if (code !== PERMISSION_DENIED && code !== UNIMPLEMENTED) throw error;
  }
}

async function putSchedule(
  client: Client,
  scheduleId: string,
  { workflow, task_queue, every, about }: ScheduleSettings,
): Promise<void> {
  const spec = { intervals: [{ every: every as `${number}s` }] };
  const action = {
    type: "startWorkflow" as const,
    workflowType: workflow,
    taskQueue: task_queue,
    workflowId: scheduleId,
    args: [],
    staticSummary: about,
  };
  // What was missed while nobody was there to look is of no use later.
  const policies = { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: "1m" as const };
  const update = () =>
    client.schedule.getHandle(scheduleId)
      .update((before) => ({ ...before, spec, action, policies }));
  try {
    await update();
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    await client.schedule.create({ scheduleId, spec, action, policies }).catch((error) => {
      if (error instanceof ScheduleAlreadyRunning) return update(); // another process was quicker
      throw error;
    });
  }
}

/** Starts the workflow in which the one sequencer runs, unless it is running. */
export async function ensureSequencer(client: Client): Promise<void> {
  await client.workflow.start("ledgerSequencer", {
    taskQueue: "ledger",
    workflowId: "ledger-sequencer",
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary: "Seals what waits in the outbox",
  });
}

/** Starts the workflow that relays what is queued for webhooks, unless it is running. */
export async function ensureWebhookRelay(client: Client): Promise<void> {
  await client.workflow.start("webhookRelay", {
    taskQueue: "itsm",
    workflowId: "webhook-relay",
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary: "Starts what is queued for webhooks",
  });
}

/**
 * Starts the workflows that never end where they do not run, and again where somebody has ended one, until the signal.
 *
 * @param everyMs milliseconds between two looks, > 0
 */
export async function keepWorkflowsRunning(
  client: Client,
  signal: AbortSignal,
  everyMs = 20_000,
): Promise<void> {
  while (!signal.aborted) {
    await sleep(everyMs, undefined, { signal, ref: false }).catch(() => {});
    if (signal.aborted) return;
    // Temporal may be away: then whatever ran goes on when it is there again.
    await Promise.allSettled([ensureSequencer(client), ensureWebhookRelay(client)]);
  }
}
