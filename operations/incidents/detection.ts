import { z } from "zod";
import { describeObservers } from "../../judgement/observation/mod.ts";
import { type Context, operation } from "../../calls/mod.ts";
import { recoverNothing } from "../../calls/recover/mod.ts";
import { composedText, Problem } from "../../contract/mod.ts";
import {
  BadDetectorsFile,
  describeDetectors,
  detectAll,
  type DetectionContext,
  openDetectionContext,
} from "../../judgement/detection/mod.ts";
import {
  ANY_PLACE,
  DETECTORS,
  FINDING_CHECKS,
  OBSERVERS,
  SEVERITIES,
  type Text,
} from "../../contract/domain/mod.ts";
import { listDetectorRuns } from "../../store/incidents/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** The words about a detector. */
type DetectorLine = Readonly<Record<"detector" | "state" | "about", string>> & {
  readonly error: string | null;
};

/** The words of a finding. */
interface Said {
  readonly severity: string;
  readonly summary: Text;
}

const Fingerprint = z.string().describe("The same for the same fault");
const DetectorFinding = z.object({
  service: z.string().nullable().describe("Affected service; null: none is known"),
  host: z.string().nullable(),
  detector: z.enum(DETECTORS),
  check: z.enum(FINDING_CHECKS),
  code: z.string().describe("Kind of fault: refused, status_500, disk_full, expired, …"),
  severity: z.enum(SEVERITIES).describe("First estimate"),
  fingerprint: Fingerprint,
  observed_at: Timestamp,
  summary: composedText,
  detail: z.record(z.string(), z.unknown()).describe("Measured values and samples"),
}).meta({ id: "Finding" });
const Incident = z.object({
  root: Fingerprint.describe("Fingerprint of the finding that probably causes the others"),
  service: z.string().nullable(),
  code: z.string(),
  severity: z.enum(SEVERITIES),
  related: z.array(z.object({
    service: z.string().nullable(),
    code: z.string(),
    fingerprint: Fingerprint,
  })),
}).meta({ id: "DetectedIncident" });
const DetectorRun = z.object({
  detector: z.enum(DETECTORS),
  enabled: z.boolean(),
  duration_ms: z.number(),
  probed: z.number().int().describe("Number of targets that it looked at"),
  findings: z.number().int(),
  error: z.string().nullable().describe("Codes of targets that it could not look at; null: none"),
}).meta({ id: "DetectorRun" });
const DetectorState = z.enum(["ok", "failing", "off", "never_run"]);

/** Runs the detectors without opening tickets. */
export const detectFaults = operation({
  name: "itsm.detect",
  group: "itsm",
  summary: "Run the five detectors now and return their findings, without opening tickets",
  description:
    "Returns every finding with its evidence, and the incidents that the findings would be grouped to. Nothing of it is " +
    "stored: a new line of a log is found again by the next sweep.",
  effect: "run",
  access: "key",
  input: z.object({}),
  output: z.object({
    probed: z.number().int().describe("Number of targets that were looked at"),
    findings: z.array(DetectorFinding),
    incidents: z.array(Incident),
    detectors: z.array(DetectorRun),
  }),
  rest: { itsm_detect: "POST /v1/itsm/detect" },
  tool: { itsm_trigger_detection: FULL },
  presentation: {
    tell: ({ findings, probed }) => [
      `${probed} targets were looked at, and ${findings.length} faults found.`,
      ...findings.map(({ severity, summary }: Said) => `- (${severity}) ${summary}`),
    ],
    toolText: { itsm_trigger_detection: "Stores nothing; itsm_run_loop also repairs." },
    hints: { destructive: false, idempotent: true },
    untrusted: true,
    errors: ["Unavailable"],
  },
  governance: { rule: "tickets-and-loops" },
  durability: { recover: recoverNothing },
  example: {
    input: {},
    output: {
      probed: 12,
      findings: [{
        service: "orders-db",
        host: "db1",
        detector: "host_resources",
        check: "host",
        code: "disk_full",
        severity: "high",
        fingerprint: "1d0f6a2b9c3e4857",
        observed_at: "2026-07-01T12:00:00.000Z",
        summary: "The disk at /srv/orders on db1 is 97 % full",
        detail: { path: "/srv/orders", percent: 97.2, bound_percent: 95 },
      }],
      incidents: [{
        root: "1d0f6a2b9c3e4857",
        service: "orders-db",
        code: "disk_full",
        severity: "critical",
        related: [{ service: "orders", code: "status_500", fingerprint: "93f2c07a51be6d84" }],
      }],
      detectors: [{
        detector: "host_resources",
        enabled: true,
        duration_ms: 1.5,
        probed: 4,
        findings: 1,
        error: null,
      }],
    },
  },
  run: async (_, context) => {
    const { signal, progress } = context;
    const total = DETECTORS.length;
    let done = 0;
    progress(done, total, `runs ${DETECTORS.join(", ")}`);
    const { probed, findings, incidents, runs } = await detectAll(openContext(context), {
      save: false,
      signal,
      onDetectorEnd: ({ detector, findings, enabled }) => {
        const result = !enabled
          ? "is off"
          : findings === 1
          ? "found 1 fault"
          : `found ${findings} faults`;
        progress(++done, total, `${detector} ${result}`);
      },
    }).catch((error) => {
      throw signal.aborted ? new Problem("Cancelled", "The caller has cancelled the call") : error;
    });
    return {
      probed,
      findings: findings.map(({ target: _, counts: __, related: ___, ...finding }) => finding),
      incidents: incidents.map(({ fingerprint, service, code, severity, related = [] }) => ({
        root: fingerprint,
        service,
        code,
        severity,
        related,
      })),
      detectors: runs,
    };
  },
});

/** Detectors with their last runs. */
export const detectorList = operation({
  name: "itsm.detectors",
  group: "itsm",
  summary: "List the detectors with their state, configuration and last run",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    detectors: z.array(z.object({
      detector: z.enum(DETECTORS),
      about: z.string(),
      state: DetectorState.describe(
        "failing: the last run could not look at every target; see error",
      ),
      configuration: z.record(z.string(), z.unknown()).describe("Bounds and counts, no names"),
      last_run_at: Timestamp.nullable(),
      duration_ms: z.number().nullable(),
      probed: z.number().int().nullable(),
      findings: z.number().int().nullable(),
      error: z.string().nullable(),
    })),
    observations: z.array(z.object({ source: z.enum(OBSERVERS), about: z.string() })).describe(
      "Sources that look at a fault before it is judged",
    ),
  }),
  rest: { itsm_detectors: "GET /v1/itsm/detectors" },
  tool: { itsm_get_detection_sources: FULL },
  presentation: {
    tell: ({ detectors }) =>
      detectors.map(({ detector, state, about, error }: DetectorLine) =>
        `- ${detector} is ${state.replaceAll("_", " ")}: ${about}${error ? ` (${error})` : ""}`
      ),
    errors: ["Unavailable"],
  },
  example: {
    input: {},
    output: {
      detectors: [{
        detector: "service_probes",
        about:
          "Probes every watched service over HTTP, TCP or by a command, with bounds of latency",
        state: "ok",
        configuration: { enabled: true, timeout_ms: 2000, slow_ms: 1500 },
        last_run_at: "2026-07-01T12:00:00.000Z",
        duration_ms: 12.5,
        probed: 6,
        findings: 0,
        error: null,
      }],
      observations: [{ source: "names", about: "Resolves the host names of the check" }],
    },
  },
  run: async (_, context) => {
    const lastRuns = await listDetectorRuns(context.store.db);
    const runs = new Map(lastRuns.map((run) => [run.detector, run]));
    return {
      detectors: describeDetectors(openContext(context)).map(({ enabled, ...detector }) => {
        const last = runs.get(detector.detector);
        return {
          ...detector,
          state: stateOf(enabled, last),
          last_run_at: last?.last_run_at ?? null,
          duration_ms: last?.duration_ms ?? null,
          probed: last?.probed ?? null,
          findings: last?.findings ?? null,
          error: last?.error ?? null,
        };
      }),
      observations: describeObservers(),
    };
  },
});

function stateOf(
  enabled: boolean,
  last: { readonly error: string | null } | undefined,
): z.output<typeof DetectorState> {
  if (!enabled) return "off";
  if (!last) return "never_run";
  return last.error ? "failing" : "ok";
}

/** Opens the detectors' context. @throws {Problem} `Unavailable`: the file that configures them is wrong */
function openContext({ config, store, temporal, alerts }: Context): DetectionContext {
  try {
    const places = [config.place, ANY_PLACE, ""]; // others look for themselves
    const context = openDetectionContext({ config, store, temporal, alerts, places });
    if (context.settingsProblem) throw context.settingsProblem;
    return context;
  } catch (error) {
    if (!(error instanceof BadDetectorsFile)) throw error;
    const mistakes = error.message.split("\n").slice(1).map((line) => line.trim()).join("; ");
    throw new Problem(
      "Unavailable",
      `Cannot run the detectors, as their file is wrong: ${mistakes}`,
    );
  }
}
