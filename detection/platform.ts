import type { Client } from "@temporalio/client";
import {
  countOpenBreaks,
  type FindingRecord,
  fingerprintFault,
  getDatabaseState,
  getOutboxState,
} from "../store/mod.ts";
import type { DetectedFinding } from "./findings.ts";
import type { Severity } from "../domain/mod.ts";
import { recheckWeakness, SCAN_DETECTOR } from "../compliance/scans/mod.ts";
import type {
  DetailedFinding,
  DetectionContext,
  Detector,
  DetectorResult,
  RecheckResult,
} from "./_detector.ts";

/** What is wrong with a part of the platform, as far as one aspect goes. */
interface Trouble {
  readonly code: string;
  /** Part of the platform that is concerned. */
  readonly service: string;
  readonly severity: Severity;
  readonly summary: string;
  readonly detail: Readonly<Record<string, unknown>>;
  /** Tells troubles of one aspect apart; the same is the same fault. */
  readonly which?: string;
}

/** @see temporal.api.enums.v1.TaskQueueType */
const QUEUE_TYPES = { workflow: 1, activity: 2 } as const;
const WITHIN_MS = 5_000;
const MOST_TYPES = 5;

/** Aspects, each looked at by itself: one that can't be seen hides no other. */
const ASPECTS: Readonly<Record<string, (world: DetectionContext) => Promise<Trouble[]>>> = {
  backlog: lookAtQueues,
  failed_workflows: lookAtFailures,
  ledger: lookAtLedger,
  database: lookAtDatabase,
  outbox: lookAtOutbox,
};

/** Looks at the platform itself. */
export const platform: Detector = {
  name: "platform",
  about:
    "Looks at the platform itself: Temporal's backlog and failed workflows, breaks of the ledger, database, outbox",
  ofHost: false,
  configuration: ({ platform }) => platform,

  async detect(world): Promise<DetectorResult> {
    const problems: string[] = [];
    const looks = await Promise.all(
      Object.entries(ASPECTS).map(async ([aspect, look]) => {
        try {
          const troubles = await within(look(world));
          return troubles.map((trouble) => foundOf(aspect, trouble));
        } catch {
          problems.push(`${aspect}_not_seen`);
          return [];
        }
      }),
    );
    return { probed: looks.length, found: looks.flat(), problems };
  },

  async recheck(world, finding, known): Promise<RecheckResult> {
    return await recheckPlatform(world, finding, await known);
  },
};

async function recheckPlatform(
  world: DetectionContext,
  { code, fingerprint }: DetectedFinding,
  known: FindingRecord | undefined,
): Promise<RecheckResult> {
  if (known?.detector === SCAN_DETECTOR) {
    const present = await recheckWeakness(world, String(known.target.scanner), fingerprint) ?? true;
    return { present, code: present ? code : "ok" };
  }
  const aspect = String(known?.target.aspect ?? "");
  const look = ASPECTS[aspect];
  if (!look) return { present: false, code: "unknown_finding" };
  try {
    const now = (await within(look(world))).map((trouble) => foundOf(aspect, trouble))
      .find((one) => one.fingerprint === fingerprint);
    return now ? { present: true, code: now.code } : { present: false, code: "ok" };
  } catch {
    return { present: true, code }; // that it can't be seen doesn't make it right
  }
}

async function lookAtQueues({ config, settings, temporal }: DetectionContext): Promise<Trouble[]> {
  const { backlog, backlog_seconds } = settings.platform;
  const client = await temporal();
  const queues = Object.keys(config.temporal.task_queues).flatMap((name) =>
    Object.entries(QUEUE_TYPES).map(([kind, type]) => ({ name, kind, type }))
  );
  const troubles = await Promise.all(queues.map(async ({ name, kind, type }) => {
    const { tasks, seconds, pollers } = await queueState(client, name, type);
    const which = `${name} ${kind}`;
    const detail = { queue: name, kind, tasks, oldest_seconds: seconds, pollers };
    if (pollers === 0 && (tasks > 0 || name in QUEUES_THAT_MUST_BE_TAKEN)) {
      return [{
        ...{ code: "no_worker", service: "worker", severity: "high" as const, which, detail },
        summary: `No worker takes ${kind} tasks from the queue ${name}`,
      }];
    }
    if (tasks < backlog && (tasks === 0 || seconds < backlog_seconds)) return [];
    return [{
      ...{ code: "backlog", service: "worker", severity: "high" as const, which, detail },
      summary: `${tasks} ${kind} tasks wait in the queue ${name}, the oldest for ${seconds} s`,
    }];
  }));
  return troubles.flat();
}

/** A worker that takes this one looks, or else there would be no look; without the other nothing is sealed. */
const QUEUES_THAT_MUST_BE_TAKEN: Readonly<Record<string, true>> = { ledger: true };

async function queueState(client: Client, name: string, taskQueueType: number) {
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

async function lookAtFailures({ settings, temporal }: DetectionContext): Promise<Trouble[]> {
  const { failed_workflows, failed_within_seconds } = settings.platform;
  const client = await temporal();
  const since = new Date(Date.now() - failed_within_seconds * 1_000).toISOString();
  const query = `ExecutionStatus IN ("Failed", "TimedOut") AND CloseTime > "${since}"`;
  const { count } = await client.workflow.count(query);
  if (count < failed_workflows) return [];
  const types = new Set<string>();
  for await (const run of client.workflow.list({ query, pageSize: 50 })) {
    types.add(run.type);
    if (types.size >= MOST_TYPES) break;
  }
  const detail = { workflows: count, seconds: failed_within_seconds, types: [...types] };
  return [{
    ...{ code: "workflows_failed", service: "worker", severity: "medium", detail },
    summary: `${count} workflows have failed within ${failed_within_seconds} s`,
  }];
}

async function lookAtLedger({ store }: DetectionContext): Promise<Trouble[]> {
  const { breaks, first } = await countOpenBreaks(store.asPlatform());
  if (breaks === 0) return [];
  return [{
    ...{ code: "ledger_broken", service: "public-ledger", severity: "critical" },
    summary: `The ledger does not hold at ${breaks} position${breaks > 1 ? "s" : ""}, ` +
      `the first of them ${first}`,
    detail: { breaks, first },
  }];
}

async function lookAtDatabase({ store, settings }: DetectionContext): Promise<Trouble[]> {
  const { database_ms, connections_percent } = settings.platform;
  const { elapsedMs, connections, maxConnections } = await getDatabaseState(store.asPlatform());
  const percent = 100 * connections / maxConnections;
  const troubles: Trouble[] = [];
  if (elapsedMs > database_ms) {
    troubles.push({
      ...{ code: "slow", service: "postgresql", severity: "medium", which: "slow" },
      summary: `The database took ${Math.round(elapsedMs)} ms to say how it is`,
      detail: { elapsed_ms: Math.round(elapsedMs), bound_ms: database_ms },
    });
  }
  if (percent >= connections_percent) {
    troubles.push({
      ...{ code: "connections_exhausted", service: "postgresql", severity: "high" },
      which: "connections",
      summary: `${connections} of ${maxConnections} connections of the database are taken`,
      detail: { connections, max_connections: maxConnections },
    });
  }
  return troubles;
}

async function lookAtOutbox({ store, settings }: DetectionContext): Promise<Trouble[]> {
  const { waiting, oldestSeconds } = await getOutboxState(store.asPlatform());
  if (waiting === 0 || oldestSeconds < settings.platform.outbox_seconds) return [];
  return [{
    ...{ code: "outbox_old", service: "worker", severity: "high" },
    summary: `About ${waiting} receipts wait to be sealed, the oldest for ` +
      `${Math.round(oldestSeconds)} s`,
    detail: { waiting, oldest_seconds: Math.round(oldestSeconds) },
  }];
}

function foundOf(aspect: string, { which = "", ...trouble }: Trouble): DetailedFinding {
  return {
    ...trouble,
    detector: "platform",
    check: "platform",
    fingerprint: fingerprintFault("platform", aspect, which),
    observed_at: new Date().toISOString(),
    host: null,
    target: { aspect },
  };
}

/** @throws where it takes too long */
async function within<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("No answer")), WITHIN_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
