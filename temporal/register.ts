import { type Client, ScheduleNotFoundError, ScheduleOverlapPolicy } from "@temporalio/client";
import type { Config } from "../config.ts";

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

/** Id and type of the workflow in which the one sequencer runs, and its task queue. */
const SEQUENCER = {
  workflowId: "ledger-sequencer",
  type: "ledgerSequencer",
  taskQueue: "ledger",
} as const;

/**
 * Brings Temporal in line with `temporal.yaml`: search attributes where they are missing, schedules as they are
 * now, and the workflow of the sequencer. Safe to repeat, and by several processes at once.
 */
export async function registerTemporal(
  client: Client,
  { temporal, settings }: Config,
): Promise<void> {
  const { namespace } = client.options;
  const { customAttributes } = await client.connection.operatorService.listSearchAttributes({
    namespace,
  });
  const missing = Object.entries(temporal.search_attributes).filter(([name]) =>
    !(name in customAttributes)
  );
  if (missing.length > 0) {
    const searchAttributes = Object.fromEntries(
      missing.map(([name, type]) => [name, INDEXED_VALUE[type]]),
    );
    await client.connection.operatorService.addSearchAttributes({ namespace, searchAttributes });
  }
  for (const [id, schedule] of Object.entries(temporal.schedules)) {
    const every = id === "sweep" && settings.SEALOOP_SWEEP_SECONDS
      ? `${settings.SEALOOP_SWEEP_SECONDS}s` as const
      : schedule.every as `${number}s`;
    await putSchedule(client, `sealoop-${id}`, { ...schedule, every });
  }
  await client.workflow.start(SEQUENCER.type, {
    taskQueue: SEQUENCER.taskQueue,
    workflowId: SEQUENCER.workflowId,
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary: "Seals what waits in the outbox",
  });
}

async function putSchedule(
  client: Client,
  scheduleId: string,
  { workflow, task_queue, every, about }: {
    workflow: string;
    task_queue: string;
    every: `${number}s`;
    about: string;
  },
): Promise<void> {
  const spec = { intervals: [{ every }] };
  const action = {
    type: "startWorkflow" as const,
    workflowType: workflow,
    taskQueue: task_queue,
    workflowId: scheduleId,
    args: [],
    staticSummary: about,
  };
  const policies = { overlap: ScheduleOverlapPolicy.SKIP, catchupWindow: "1m" as const };
  try {
    await client.schedule.getHandle(scheduleId).update((before) => ({
      ...before,
      spec,
      action,
      policies,
    }));
  } catch (error) {
    if (!(error instanceof ScheduleNotFoundError)) throw error;
    await client.schedule.create({ scheduleId, spec, action, policies });
  }
}
