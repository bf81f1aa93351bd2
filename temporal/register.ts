import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from "@temporalio/client";
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

/** Code of a gRPC answer. @see google.rpc.Code */
const ALREADY_EXISTS = 6;

/** One entry of `schedules`. */
type ScheduleSettings = TemporalSettings["schedules"][string];

/**
 * Brings Temporal in line with `temporal.yaml`: search attributes where they are missing, and schedules as they are
 * now. Safe to repeat, and by several processes at once.
 */
export async function registerTemporal(
  client: Client,
  { temporal, settings }: Config,
): Promise<void> {
  await addSearchAttributes(client, temporal.search_attributes);
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
