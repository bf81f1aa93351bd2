import { setTimeout as sleep } from "node:timers/promises";
import {
  type Client,
  ScheduleAlreadyRunning,
  ScheduleNotFoundError,
  ScheduleOverlapPolicy,
} from "@temporalio/client";
import { msToTs } from "@temporalio/common/lib/time.js";
import type { Config, TemporalSettings } from "../../config.ts";
import { UNAUTHENTICATED } from "../../contract/domain/mod.ts";
import { scheduledStart } from "./_client_calls.ts";
import { listRoutines, putRoutine } from "./routines.ts";

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
const NOT_FOUND = 5;
const ALREADY_EXISTS = 6;
const PERMISSION_DENIED = 7;
const UNIMPLEMENTED = 12;
const DAY_SECONDS = 86_400;
/** A new namespace is known to all of a cluster only after a moment. */
const MAX_ATTEMPTS = 30;
const PAUSE_MS = 1_000;

/** One entry of `schedules`. */
type ScheduleSettings = TemporalSettings["schedules"][string];

/**
 * Brings Temporal in line with `temporal.yaml`: adds missing search attributes, prolongs the retention of histories where it
 * is shorter, and updates schedules and routines. Safe to repeat, and by several processes at once.
 */
export async function registerTemporal(client: Client, config: Config): Promise<void> {
  const { temporal } = config;
  await addSearchAttributes(client, temporal.search_attributes);
  await prolongRetention(client, temporal.retention_days);
  await Promise.all([
    ...Object.entries(temporal.schedules)
      .map(([name, schedule]) => putSchedule(client, `sealoop-${name}`, schedule)),
    ...listRoutines(config).map((routine) => putRoutine(client, routine)),
  ]);
}

/**
 * Makes the namespace, if there is none, and adds missing search attributes. Safe to repeat.
 *
 * @throws where the operator of the cluster allows nobody else to do so
 */
export async function prepareNamespace(client: Client, { temporal }: Config): Promise<void> {
  const { options: { namespace }, connection: { workflowService } } = client;
  try {
    await workflowService.describeNamespace({ namespace });
  } catch (error) {
    if ((error as { code?: number }).code !== NOT_FOUND) throw error;
    await workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: msToTs(temporal.retention_days * DAY_SECONDS * 1000),
    });
  }
  for (let attempt = 1;; attempt++) {
    try {
      return await addSearchAttributes(client, temporal.search_attributes);
    } catch (error) {
      if (attempt === MAX_ATTEMPTS) throw error;
      await sleep(PAUSE_MS);
    }
  }
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

/** Prolongs the retention of histories, unless the operator of the cluster allows nobody else to change it. */
async function prolongRetention(
  { options: { namespace }, connection: { workflowService } }: Client,
  days: number,
): Promise<void> {
  const seconds = days * DAY_SECONDS;
  try {
    const { config } = await workflowService.describeNamespace({ namespace });
    const current = Number(config?.workflowExecutionRetentionTtl?.seconds ?? 0);
    if (current >= seconds) return;
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
    args: scheduledStart(workflow, scheduleId),
    staticSummary: about,
  };
  // Runs that were missed while no server ran are not made up for.
  const policies = { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: "1m" as const };
  const schedule = client.schedule.getHandle(scheduleId);
  const update = () => schedule.update((before) => ({ ...before, spec, action, policies }));
  try {
    await update();
  } catch (error) {
    if ((error as Error).name === UNAUTHENTICATED) await schedule.delete(); // a stranger has changed it
    else if (!(error instanceof ScheduleNotFoundError)) throw error;
    await client.schedule.create({ scheduleId, spec, action, policies }).catch((error) => {
      if (error instanceof ScheduleAlreadyRunning) return update(); // another process was quicker
      throw error;
    });
  }
}
