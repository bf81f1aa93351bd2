import type { Client } from "@temporalio/client";
import { placeQueue, say, TASK_QUEUE } from "../../contract/domain/mod.ts";
import { listPlaces } from "../../store/platform/mod.ts";
import type { PlatformFault } from "./_platform_fault.ts";
import type { DetectionContext } from "./detector.ts";

/** @see temporal.api.enums.v1.TaskQueueType */
const TASK_KINDS = { workflow: 1, activity: 2 } as const;
/** Queues without which the platform stops working, so that each must have a worker. Others may be unused. */
const REQUIRED_QUEUES: ReadonlySet<string> = new Set([TASK_QUEUE.sequencer]);
/** Maximum of types of failed workflows that a finding names. */
const MAX_TYPES = 5;

interface QueueState {
  readonly tasks: number;
  /** Age of the oldest task. */
  readonly seconds: number;
  readonly pollers: number;
}

/** Finds task queues without a worker, and those with a backlog. */
export async function findQueueFaults(
  { config, settings, store, temporal }: DetectionContext,
): Promise<PlatformFault[]> {
  const { backlog, backlog_seconds } = settings.platform;
  const client = await temporal();
  const places = (await listPlaces(store.db)).map(({ name }) => name);
  const queues = Object.entries(config.temporal.task_queues).flatMap(
    ([template, { of_each_place, workflow_tasks }]) =>
      (of_each_place ? places.map((place) => placeQueue(template, place)) : [template])
        .flatMap((name) =>
          Object.entries(TASK_KINDS).filter(([kind]) => kind === "activity" || workflow_tasks)
            .map(([kind, type]) => ({ name, kind, type }))
        ),
  );
  const faults = await Promise.all(queues.map(async ({ name, kind, type }) => {
    const { tasks, seconds, pollers } = await readQueueState(client, name, type);
    const fault = {
      service: name === TASK_QUEUE.sequencer ? "sequencer" : "worker",
      severity: "high" as const,
      which: `${name} ${kind}`,
      detail: { queue: name, kind, tasks, oldest_seconds: seconds, pollers },
    };
    if (pollers === 0 && (tasks > 0 || REQUIRED_QUEUES.has(name))) {
      const summary = say`No worker takes ${kind} tasks from the queue ${name}`;
      return [{ ...fault, code: "no_worker", summary }];
    }
    if (tasks < backlog && (tasks === 0 || seconds < backlog_seconds)) return [];
    const summary =
      say`${tasks} ${kind} tasks wait in the queue ${name}, the oldest for ${seconds} s`;
    return [{ ...fault, code: "backlog", summary }];
  }));
  return faults.flat();
}

async function readQueueState(
  client: Client,
  name: string,
  taskQueueType: number,
): Promise<QueueState> {
  const { stats, pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name },
    taskQueueType,
    reportStats: true,
  });
  return {
    tasks: Number(stats?.approximateBacklogCount ?? 0),
    seconds: Number(stats?.approximateBacklogAge?.seconds ?? 0),
    pollers: pollers?.length ?? 0,
  };
}

/** Finds that many workflows failed recently. */
export async function findFailedWorkflows(
  { settings, temporal }: DetectionContext,
): Promise<PlatformFault[]> {
  const { failed_workflows, failed_within_seconds: seconds } = settings.platform;
  const client = await temporal();
  const since = new Date(Date.now() - seconds * 1_000).toISOString();
  const query = `ExecutionStatus IN ("Failed", "TimedOut") AND CloseTime > "${since}"`;
  const { count } = await client.workflow.count(query);
  if (count < failed_workflows) return [];
  const types = new Set<string>();
  for await (const run of client.workflow.list({ query, pageSize: 50 })) {
    types.add(run.type);
    if (types.size >= MAX_TYPES) break;
  }
  return [{
    code: "workflows_failed",
    service: "worker",
    severity: "medium",
    summary: say`${count} workflows have failed within ${seconds} s`,
    detail: { workflows: count, seconds, types: [...types] },
  }];
}
