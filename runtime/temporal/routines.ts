import type { Client } from "@temporalio/client";
import { msToNumber } from "@temporalio/common/lib/time.js";
import type { Config } from "../../config.ts";
import {
  everySignal,
  nowSignal,
  type Routine,
  routineId,
  type RoutineName,
  TASK_QUEUE,
  WORKFLOW,
} from "../../contract/domain/mod.ts";

/** A routine of `temporal.yaml`. */
export interface RoutineSettings extends Routine {
  /** Its purpose, for people. */
  readonly about: string;
}

/** Lists the routines of `temporal.yaml`, with the intervals that the settings give. */
export function listRoutines({ temporal, settings }: Config): RoutineSettings[] {
  return Object.entries(temporal.routines).map(([name, { every, about }]) => {
    const own = msToNumber(every as `${number}s`) / 1_000;
    const every_seconds = name === "sweep" ? settings.SEALOOP_SWEEP_SECONDS ?? own : own;
    return { name: name as RoutineName, every_seconds, about };
  });
}

/** Starts the run of a routine, unless there is one, and tells it its interval. */
export async function putRoutine(client: Client, routine: RoutineSettings): Promise<void> {
  await ensureRoutine(client, routine);
  const run = client.workflow.getHandle(routineId(routine.name));
  await run.signal(everySignal, routine.every_seconds);
}

/** Starts the run of a routine, unless there is one. */
export async function ensureRoutine(
  client: Client,
  { name, every_seconds, about }: RoutineSettings,
): Promise<void> {
  const args: [Routine] = [{ name, every_seconds }];
  await client.workflow.start(WORKFLOW.routine, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: routineId(name),
    args,
    workflowIdConflictPolicy: "USE_EXISTING",
    staticSummary: about,
  });
}

/** Has the routine of sweeps look now, or as soon as it has ended the sweep that it is at. */
export async function sweepNow(client: Client): Promise<void> {
  await client.workflow.getHandle(routineId("sweep")).signal(nowSignal);
}
