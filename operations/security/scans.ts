import { z } from "zod";
import { followStartedRun, operation, refuseTenants } from "../../calls/mod.ts";
import { startRun } from "../../calls/recover/mod.ts";
import {
  findWeakness,
  followScanners,
  listScannerRuns,
  listWeaknesses,
  type QueuedWeakness,
  REPAIRABLE_WEAKNESSES,
  SCANNER_NAMES,
  toLoopFinding,
} from "../../judgement/compliance/scans/mod.ts";
import { escapeInvisible } from "../../contract/mod.ts";
import { SEVERITIES, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import {
  completedRun,
  exampleStartedRun,
  StartedRun,
  tellRun,
  Timestamp,
  WaitSeconds,
} from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

const Index = z.number().int().min(0).describe("Place in the queue of get_sie_queue, from 0");
const Fingerprint = z.string().regex(/^[0-9a-f]{16}$/).describe("The same for the same weakness");
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
    "runbook: approving it repairs it, within the guardrails; people: approving it opens a ticket for them",
  ),
  remedy: z.string().nullable().describe(
    "What a person does about it, as in the ticket; null: not known",
  ),
  first_seen_at: Timestamp,
  last_seen_at: Timestamp,
}).meta({ id: "Weakness" });

const exampleWeakness: z.output<typeof Weakness> = {
  index: 0,
  fingerprint: "1d0f6a2b9c3e4857",
  code: "file_permissions",
  severity: "high",
  summary: "Others than its owner may get at the file ledger.key",
  detail: { path: "/srv/sealoop/ledger.key", mode: "644" },
  fix: "runbook",
  remedy:
    "chmod 600 /srv/sealoop/ledger.key, and replace the secret in it if others can have read it",
  first_seen_at: "2026-07-01T12:00:00.000Z",
  last_seen_at: "2026-07-01T12:00:00.000Z",
};

/** Weaknesses that wait for a decision. */
export const weaknessQueue = operation({
  name: "security.queue",
  group: "security",
  summary: "List the weaknesses that security scans have found, most severe first",
  description:
    "Approve a weakness by its `index` with approve_sie_finding. Scans change the queue, so send the `fingerprint` as well.",
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
  presentation: {
    tell: ({ queue }) =>
      queue.length === 0 ? ["No weakness waits for a decision."] : queue.map((
        { index, severity, summary, remedy, fingerprint }: z.output<typeof Weakness>,
      ) =>
        `- ${index} (${severity}): ${summary}.${
          remedy ? ` ${remedy}` : ""
        } (fingerprint ${fingerprint})`
      ),
    untrusted: true,
  },
  example: {
    input: {},
    output: {
      queue: [exampleWeakness],
      scanners: [{
        scanner: "permissions",
        state: "ok",
        last_run_at: "2026-07-01T12:00:00.000Z",
      }],
    },
  },
  run: async (_, { store }) => {
    const db = store.db;
    return {
      queue: (await listWeaknesses(db)).map(toWeakness),
      scanners: await listScannerRuns(db),
    };
  },
});

/** Repairs a weakness by the incident loop. */
export const approveWeakness = operation({
  name: "security.approve",
  group: "security",
  summary: "Have the incident loop repair one weakness of the queue",
  description:
    "Runs the six steps of the loop: a ticket, the runbook if there is one, the guardrails, another scan that verifies the " +
    "repair, a receipt. A weakness that no runbook repairs becomes a ticket for people.",
  effect: "run",
  access: "key",
  input: z.object({
    index: Index,
    fingerprint: Fingerprint.optional().describe(
      "Fingerprint of the weakness; it is then found wherever it is in the queue",
    ),
    wait_seconds: WaitSeconds,
  }),
  output: StartedRun.extend({ finding: Weakness }),
  tool: { approve_sie_finding: FULL },
  presentation: {
    tell: tellRun,
    toolText: {
      approve_sie_finding:
        "Send the fingerprint as well, as scans change the queue. One that no runbook repairs becomes a ticket for people.",
    },
    untrusted: true,
    errors: ["NotFound", "Unavailable"],
  },
  governance: {
    rule: "acts-on-the-outside",
    resolveStableInput: async ({ index, fingerprint, ...rest }, { store }) => {
      const { finding } = await findWeakness(store.db, index, fingerprint);
      return {
        input: { ...rest, index, fingerprint: finding.fingerprint },
        about: escapeInvisible(finding.summary),
      };
    },
  },
  durability: {
    longRunning: { shared: true, outcome: completedRun },
    startsRun: "status",
  },
  example: {
    input: { index: 0, fingerprint: "1d0f6a2b9c3e4857" },
    output: { ...exampleStartedRun, finding: exampleWeakness },
  },
  run: async ({ index, fingerprint, wait_seconds }, context) => {
    const weakness = await findWeakness(context.store.db, index, fingerprint);
    const given = { finding: toWeakness(weakness) };
    const run = await startRun(context, WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${weakness.finding.fingerprint}`,
      args: [toLoopFinding(weakness.finding, `key:${context.caller.keyId}`)],
      staticSummary: `${
        weakness.finding.service ?? weakness.finding.kind
      }: ${weakness.finding.code}`,
    }, given);
    const status = await followStartedRun(context, WORKFLOW.itsmLoop, run, wait_seconds);
    return { ...status, ...given };
  },
});

const SCANS = "Scans of the platform and its host";

/** Scans now. */
export const runScan = operation({
  name: "security.scan",
  group: "security",
  summary: "Scan the platform and its host for weaknesses now",
  description:
    "Checks settings, files, keys, open ports and installed packages. Changes nothing but the queue, which get_sie_queue " +
    "returns. A call during a scan joins that scan.",
  effect: "run",
  access: "key",
  input: z.object({ wait_seconds: WaitSeconds }),
  output: StartedRun,
  tool: { trigger_sie_scan: FULL },
  presentation: {
    tell: tellRun,
    untrusted: true,
    hints: { destructive: false, idempotent: true },
    errors: ["Forbidden", "Unavailable"],
  },
  governance: {
    rule: "sandbox-and-judgement",
    check(_, { store }) {
      refuseTenants(store, SCANS);
      return Promise.resolve();
    },
  },
  durability: {
    startsWorkflow: WORKFLOW.securityScan,
    longRunning: { shared: true, outcome: completedRun },
    startsRun: "status",
  },
  example: {
    input: {},
    output: {
      ...exampleStartedRun,
      workflow_id: "security-scan",
      result_url: "http://127.0.0.1:8080/v1/workflows/security-scan/result",
    },
  },
  run: async ({ wait_seconds }, context) => {
    refuseTenants(context.store, SCANS);
    const db = context.store.db;
    const before = await listScannerRuns(db);
    const run = await startRun(context, WORKFLOW.securityScan, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "security-scan",
      args: [],
      staticSummary: "Requested security scan",
    });
    const over = new AbortController();
    const reporting = followScanners(db, before, context.progress, over.signal);
    try {
      return await followStartedRun(context, WORKFLOW.securityScan, run, wait_seconds);
    } finally {
      over.abort();
      await reporting;
    }
  },
});

function toWeakness({ index, finding }: QueuedWeakness): z.output<typeof Weakness> {
  const { fingerprint, code, severity, summary, detail, first_seen_at, last_seen_at } = finding;
  const { remedy } = finding.target;
  return {
    index,
    fingerprint,
    code,
    severity,
    summary,
    detail,
    fix: REPAIRABLE_WEAKNESSES.has(code) ? "runbook" : "people",
    remedy: typeof remedy === "string" ? remedy : null,
    first_seen_at,
    last_seen_at,
  };
}
