import { setTimeout as sleep } from "node:timers/promises";
import {
  REPAIRABLE_WEAKNESSES,
  SCAN_DETECTOR,
  SCANNER_NAMES,
  type ScannerName,
} from "../../compliance/scans/mod.ts";
import {
  type Db,
  type FindingRecord,
  listDetectorRuns,
  listOpenFindings,
} from "../../store/mod.ts";
import { type Finding, SEVERITIES, TASK_QUEUE, WORKFLOW } from "../../domain/mod.ts";
import { z } from "zod";
import { escapeInvisible, Problem } from "../../contract/mod.ts";
import { FULL } from "../_audience.ts";
import { Timestamp } from "../_shapes.ts";
import { exampleRun, Started, started, startedOutcome, WaitSeconds } from "../_started.ts";
import { recoverMarked, startOrJoin } from "../../calls/recover/mod.ts";
import { type Context, operation } from "../../calls/mod.ts";

const group = "security";
const LOOK_EVERY_MS = 100;
const Index = z.number().int().min(0).describe("Place in the queue, as get_sie_queue gives it");
const Fingerprint = z.string().regex(/^[0-9a-f]{16}$/).describe("The same weakness has the same");

const Weakness = z.object({
  index: Index,
  fingerprint: Fingerprint,
  code: z.string().describe(
    "weak_setting, file_permissions, exposed_file, folder_permissions, stale_key, open_port, known_vulnerability",
  ),
  severity: z.enum(SEVERITIES),
  summary: z.string(),
  detail: z.record(z.string(), z.unknown()),
  fix: z.enum(["runbook", "people"]).describe(
    "runbook: approving it mends it, within the guardrails; people: approving it opens a ticket for them",
  ),
  remedy: z.string().nullable().describe(
    "What a person does about it; the ticket says it too. null: it was found before this was noted",
  ),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
}).meta({ id: "Weakness" });

/** What scans have found and is there still, worst first; those found longer ago before others. */
async function queueOf(on: Db): Promise<FindingRecord[]> {
  const rank = ({ severity }: FindingRecord) => SEVERITIES.indexOf(severity);
  return (await listOpenFindings(on, { detector: SCAN_DETECTOR })).sort((a, b) =>
    rank(b) - rank(a) || a.first_seen_at.localeCompare(b.first_seen_at) ||
    a.fingerprint.localeCompare(b.fingerprint)
  );
}

const shown = (finding: FindingRecord, index: number) => {
  const { fingerprint, code, severity, summary, detail, first_seen_at, last_seen_at } = finding;
  const { remedy } = finding.target;
  return {
    ...{ index, fingerprint, code, severity, summary, detail, first_seen_at, last_seen_at },
    fix: REPAIRABLE_WEAKNESSES.has(code) ? "runbook" as const : "people" as const,
    remedy: typeof remedy === "string" ? remedy : null,
  };
};

const exampleWeakness = {
  index: 0,
  fingerprint: "1d0f6a2b9c3e4857",
  code: "file_permissions",
  severity: "high" as const,
  summary: "Others than its owner may get at the file ledger.key",
  detail: { path: "/srv/sealoop/ledger.key", mode: "644" },
  fix: "runbook" as const,
  remedy:
    "chmod 600 /srv/sealoop/ledger.key, and replace the secret in it if others can have read it",
  first_seen_at: "2026-07-01T12:00:00.000Z",
  last_seen_at: "2026-07-01T12:00:00.000Z",
};

/** What waits for somebody to decide. */
export const scanQueue = operation({
  name: "security.queue",
  group,
  summary: "List the weaknesses that security scans have found, worst first",
  description:
    "Each can be approved by its `index` (`approve_sie_finding`). The queue moves when scans find more or less, " +
    "so send the `fingerprint` too.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    queue: z.array(Weakness),
    scanners: z.array(z.object({
      scanner: z.enum(SCANNER_NAMES),
      state: z.enum(["ok", "not_configured", "failed", "never_run"]),
      last_run_at: Timestamp.nullable(),
    })),
  }),
  tool: { get_sie_queue: FULL },
  untrusted: true,
  example: {
    input: {},
    output: {
      queue: [exampleWeakness],
      scanners: [{
        scanner: "permissions" as const,
        state: "ok" as const,
        last_run_at: "2026-07-01T12:00:00.000Z",
      }],
    },
  },
  run: async (_, { store }) => {
    const runs = new Map(
      (await listDetectorRuns(store.asPlatform())).map((one) => [one.detector, one]),
    );
    return {
      queue: (await queueOf(store.asPlatform())).map(shown),
      scanners: SCANNER_NAMES.map((scanner) => {
        const run = runs.get(`${SCAN_DETECTOR}:${scanner}`);
        const state = run === undefined ? "never_run" : run.error ?? "ok";
        return {
          scanner,
          state: state as "ok" | "not_configured" | "failed" | "never_run",
          last_run_at: run?.last_run_at ?? null,
        };
      }),
    };
  },
});

/** Has a weakness mended. */
export const approveFinding = operation({
  name: "security.approve",
  group,
  summary: "Have one weakness of the queue mended, by the incident loop",
  description:
    "Runs the six steps on it: a ticket, the runbook where there is one, the guardrails, another scan to see that it is " +
    "gone, a receipt. What no runbook mends becomes a ticket for people.",
  effect: "run",
  access: "key",
  input: z.object({
    index: Index,
    fingerprint: Fingerprint.optional().describe(
      "Of the weakness that is meant, wherever it is in the queue by now",
    ),
    wait_seconds: WaitSeconds,
  }),
  output: Started.extend({ finding: Weakness }),
  tool: { approve_sie_finding: FULL },
  untrusted: true,
  longRunning: { shared: true, outcome: startedOutcome },
  errors: ["NotFound", "Unavailable"],
  example: {
    input: { index: 0, fingerprint: "1d0f6a2b9c3e4857" },
    output: { ...exampleRun, finding: exampleWeakness },
  },
  resolveStableInput: async ({ index, fingerprint, ...rest }, { store }) => {
    const { found } = await meantBy(store.asPlatform(), index, fingerprint);
    return {
      input: { ...rest, index, fingerprint: found.fingerprint },
      about: escapeInvisible(found.summary),
    };
  },
  recover: (call, platform) => recoverMarked(platform, call),
  run: async ({ index, fingerprint, wait_seconds }, context) => {
    const { found, at } = await meantBy(context.store.asPlatform(), index, fingerprint);
    const client = await context.temporal();
    const given = { finding: shown(found, at) };
    const run = await startOrJoin(context, WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${found.fingerprint}`,
      args: [toFinding(found, `key:${context.caller.keyId}`)],
      staticSummary: found.summary,
    }, given);
    return { ...await started(context, client, run, wait_seconds), ...given };
  },
});

/** The weakness of a fingerprint, wherever it is by now; else the one at a place. @throws {Problem} `NotFound` */
async function meantBy(
  on: Db,
  index: number,
  fingerprint: string | undefined,
): Promise<{ found: FindingRecord; at: number }> {
  const queue = await queueOf(on);
  const at = fingerprint === undefined
    ? index
    : queue.findIndex((one) => one.fingerprint === fingerprint);
  const found = queue[at];
  if (found) return { found, at };
  throw new Problem(
    "NotFound",
    queue.length === 0
      ? "The queue is empty; trigger_sie_scan looks anew"
      : fingerprint === undefined
      ? `There is no index ${index} in the queue; its last is ${queue.length - 1}`
      : `The weakness ${fingerprint} is not in the queue any more; nothing was done`,
  );
}

function toFinding(found: FindingRecord, requested_by: string): Finding {
  const { service, code, fingerprint, severity } = found;
  return {
    ...{ service, detector: "platform", check: "platform", code, fingerprint, severity },
    observed_at: found.last_seen_at,
    requested_by,
  };
}

/** Looks now. */
export const triggerScan = operation({
  name: "security.scan",
  group,
  summary: "Look for weaknesses of the platform and its host now",
  description:
    "Holds settings, files, keys, open ports and installed packages against what they should be. Changes nothing but the " +
    "queue, which get_sie_queue gives. Two at the same time are one.",
  effect: "run",
  startsWorkflow: WORKFLOW.securityScan,
  hints: { destructive: false, idempotent: true },
  access: "key",
  input: z.object({ wait_seconds: WaitSeconds }),
  output: Started,
  tool: { trigger_sie_scan: FULL },
  longRunning: { shared: true, outcome: startedOutcome },
  errors: ["Unavailable"],
  example: {
    input: {},
    output: {
      ...exampleRun,
      workflow_id: "security-scan",
      result_url: "http://127.0.0.1:8080/v1/workflows/security-scan/result",
    },
  },
  recover: (call, platform) => recoverMarked(platform, call),
  run: async ({ wait_seconds }, context) => {
    const client = await context.temporal();
    const before = await lastLooks(context.store.asPlatform());
    const run = await startOrJoin(context, WORKFLOW.securityScan, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "security-scan",
      args: [],
      staticSummary: "Security scan that was asked for",
    });
    const over = new AbortController();
    const telling = tellOfScanners(context, before, over.signal);
    try {
      return await started(context, client, run, wait_seconds);
    } finally {
      over.abort();
      await telling;
    }
  },
});

/** When each scanner has looked last, by its name. */
async function lastLooks(on: Db): Promise<ReadonlyMap<ScannerName, string | null>> {
  const runs = new Map((await listDetectorRuns(on)).map((one) => [one.detector, one.last_run_at]));
  return new Map(SCANNER_NAMES.map((name) => [name, runs.get(`${SCAN_DETECTOR}:${name}`) ?? null]));
}

/** Tells of scanners as they end, until it is over. What can't be asked at the moment is asked again. */
async function tellOfScanners(
  { store, progress }: Pick<Context, "store" | "progress">,
  before: Awaited<ReturnType<typeof lastLooks>>,
  over: AbortSignal,
): Promise<void> {
  const all = SCANNER_NAMES.length;
  progress(0, all, `looks at ${SCANNER_NAMES.join(", ")}`);
  let told = 0;
  while (!over.aborted && told < all) {
    const now = await lastLooks(store.asPlatform()).catch(() => before);
    const left = SCANNER_NAMES.filter((name) => now.get(name) === before.get(name));
    const done = all - left.length;
    if (done > told && !over.aborted) {
      progress(done, all, left.length > 0 ? `looks at ${left.join(", ")}` : "notes");
      told = done;
    }
    await sleep(LOOK_EVERY_MS, undefined, { signal: over }).catch(() => {});
  }
}
