import { z } from "zod";
import {
  BadDetectorsFile,
  describeDetectors,
  detectAll,
  openDetectionContext,
} from "../../detection/mod.ts";
import { DETECTORS, FINDING_CHECKS, SEVERITIES } from "../../domain/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { listDetectorRuns } from "../../store/mod.ts";
import { FULL } from "../_audience.ts";
import { Timestamp } from "../_shapes.ts";
import { recoverNothing } from "../../calls/recover/mod.ts";
import { type Context, operation } from "../../calls/mod.ts";

const Fingerprint = z.string().describe("The same fault has the same");
const Found = z.object({
  service: z.string().nullable().describe("Service that is concerned; null: none that is known"),
  host: z.string().nullable(),
  detector: z.enum(DETECTORS),
  check: z.enum(FINDING_CHECKS),
  code: z.string().describe("What is wrong: refused, status_500, disk_full, expired, …"),
  severity: z.enum(SEVERITIES).describe("A first guess"),
  fingerprint: Fingerprint,
  observed_at: Timestamp,
  summary: z.string(),
  detail: z.record(z.string(), z.unknown()).describe("Figures and samples"),
}).meta({ id: "Finding" });
const Incident = z.object({
  root: Fingerprint.describe("Finding that is likely to be the cause of the others"),
  service: z.string().nullable(),
  code: z.string(),
  severity: z.enum(SEVERITIES),
  related: z.array(z.object({
    service: z.string().nullable(),
    code: z.string(),
    fingerprint: Fingerprint,
  })),
}).meta({ id: "DetectedIncident" });
const Run = z.object({
  detector: z.enum(DETECTORS),
  enabled: z.boolean(),
  duration_ms: z.number(),
  probed: z.number().int().describe("How many things it looked at"),
  findings: z.number().int(),
  error: z.string().nullable().describe("What it could not look at, as codes; null: nothing"),
}).meta({ id: "DetectorRun" });

function open({ config, store, temporal }: Context) {
  try {
    return openDetectionContext({ config, store, temporal });
  } catch (error) {
    if (!(error instanceof BadDetectorsFile)) throw error;
    const mistakes = error.message.split("\n").slice(1).map((line) => line.trim()).join("; ");
    throw new Problem("Unavailable", `The detectors' file can't be used: ${mistakes}`);
  }
}

const exampleRun = {
  detector: "host_resources" as const,
  enabled: true,
  duration_ms: 1.5,
  probed: 4,
  findings: 1,
  error: null,
};

/** Looks, and opens nothing. */
export const detect = operation({
  name: "itsm.detect",
  group: "itsm",
  summary: "Run the five detectors now and give what they find, without opening tickets",
  description:
    "Gives every finding with its evidence, and which of them would be one incident. Nothing is remembered of it: " +
    "what is new in a log is still found by the next sweep.",
  effect: "run",
  hints: { destructive: false, idempotent: true },
  access: "key",
  input: z.object({}),
  output: z.object({
    probed: z.number().int(),
    findings: z.array(Found),
    incidents: z.array(Incident),
    detectors: z.array(Run),
  }),
  rest: { itsm_detect: "POST /v1/itsm/detect" },
  tool: { itsm_trigger_detection: FULL },
  untrusted: true,
  errors: ["Unavailable"],
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
      detectors: [exampleRun],
    },
  },
  recover: recoverNothing,
  run: async (_, context) => {
    const { signal, progress } = context;
    let done = 0;
    const looking = DETECTORS.length;
    progress(done, looking, `looks with ${DETECTORS.join(", ")}`);
    const detection = await detectAll(open(context), {
      save: false,
      signal,
      onDetectorEnd: ({ detector, findings, enabled }) =>
        progress(
          ++done,
          looking,
          `${detector} ${
            enabled ? `found ${findings === 1 ? "1 fault" : `${findings} faults`}` : "is off"
          }`,
        ),
    }).catch((error) => {
      throw signal.aborted ? new Problem("Cancelled", "The caller has cancelled") : error;
    });
    return {
      probed: detection.probed,
      findings: detection.findings.map(({ target: _, counts: __, related: ___, ...rest }) => rest),
      incidents: detection.incidents.map((
        { fingerprint: root, service, code, severity, related },
      ) => ({
        ...{ root, service, code, severity },
        related: [...related ?? []],
      })),
      detectors: [...detection.runs],
    };
  },
});

const State = z.enum(["ok", "failing", "off", "never_run"]);

/** What there is to detect with. */
export const detectors = operation({
  name: "itsm.detectors",
  group: "itsm",
  summary: "List the detectors: state, configuration, last run",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    detectors: z.array(z.object({
      detector: z.enum(DETECTORS),
      about: z.string(),
      state: State.describe("failing: its last run could not look at everything; see error"),
      configuration: z.record(z.string(), z.unknown()).describe("Bounds and counts, no names"),
      last_run_at: Timestamp.nullable(),
      duration_ms: z.number().nullable(),
      probed: z.number().int().nullable(),
      findings: z.number().int().nullable(),
      error: z.string().nullable(),
    })),
  }),
  rest: { itsm_detectors: "GET /v1/itsm/detectors" },
  tool: { itsm_get_detection_sources: FULL },
  errors: ["Unavailable"],
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
    },
  },
  run: async (_, context) => {
    const runs = new Map(
      (await listDetectorRuns(context.store.asPlatform())).map((run) => [run.detector, run]),
    );
    return {
      detectors: describeDetectors(open(context)).map(({ enabled, ...described }) => {
        const last = runs.get(described.detector);
        const state = !enabled ? "off" : !last ? "never_run" : last.error ? "failing" : "ok";
        return {
          ...described,
          configuration: { ...described.configuration },
          state: state as z.output<typeof State>,
          last_run_at: last?.last_run_at ?? null,
          duration_ms: last?.duration_ms ?? null,
          probed: last?.probed ?? null,
          findings: last?.findings ?? null,
          error: last?.error ?? null,
        };
      }),
    };
  },
});
