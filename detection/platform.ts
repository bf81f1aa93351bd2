import { recheckWeakness, SCAN_DETECTOR } from "../compliance/scans/mod.ts";
import { type FindingRecord, fingerprintFault } from "../store/mod.ts";
import type { PlatformFault } from "./_platform_fault.ts";
import { findDatabaseFaults, findLedgerBreaks, findOldOutbox } from "./_store_faults.ts";
import { findFailedWorkflows, findQueueFaults } from "./_temporal_faults.ts";
import type {
  DetailedFinding,
  DetectionContext,
  Detector,
  DetectorResult,
  RecheckResult,
} from "./detector.ts";
import type { DetectedFinding } from "./findings.ts";

/** Looks at one aspect of the platform. */
type Look = (context: DetectionContext) => Promise<PlatformFault[]>;

const TIMEOUT_MS = 5_000;

/** Aspects of the platform. Each is looked at by itself, so that a failing look does not hide the others. */
const LOOKS: Readonly<Record<string, Look>> = {
  backlog: findQueueFaults,
  failed_workflows: findFailedWorkflows,
  ledger: findLedgerBreaks,
  database: findDatabaseFaults,
  outbox: findOldOutbox,
};

/** Looks at the platform itself. */
export const platform: Detector = {
  name: "platform",
  about:
    "Looks at the platform itself: Temporal's backlog and failed workflows, breaks of the ledger, database, outbox",
  ofHost: false,
  configuration: ({ platform }) => platform,

  async detect(context): Promise<DetectorResult> {
    const problems: string[] = [];
    const looks = await Promise.all(
      Object.entries(LOOKS).map(async ([aspect, look]) => {
        try {
          return await findAspectFaults(aspect, look, context);
        } catch {
          problems.push(`${aspect}_not_seen`);
          return [];
        }
      }),
    );
    return { probed: looks.length, found: looks.flat(), problems };
  },

  async recheck(context, finding, known): Promise<RecheckResult> {
    return await recheckPlatform(context, finding, await known);
  },
};

async function recheckPlatform(
  context: DetectionContext,
  { code, fingerprint }: DetectedFinding,
  known: FindingRecord | undefined,
): Promise<RecheckResult> {
  if (known?.detector === SCAN_DETECTOR) {
    const scanner = String(known.target.scanner);
    const present = await recheckWeakness(context, scanner, fingerprint) ?? true;
    return { present, code: present ? code : "ok" };
  }
  const aspect = String(known?.target.aspect ?? "");
  const look = LOOKS[aspect];
  if (!look) return { present: false, code: "unknown_finding" };
  try {
    const found = await findAspectFaults(aspect, look, context);
    const now = found.find((one) => one.fingerprint === fingerprint);
    return now ? { present: true, code: now.code } : { present: false, code: "ok" };
  } catch {
    return { present: true, code }; // nobody can look, so it is assumed to be as before
  }
}

/** @throws where it takes too long */
async function findAspectFaults(
  aspect: string,
  look: Look,
  context: DetectionContext,
): Promise<DetailedFinding[]> {
  const faults = await withTimeout(look(context));
  return faults.map(({ which = "", ...fault }): DetailedFinding => ({
    ...fault,
    detector: "platform",
    check: "platform",
    fingerprint: fingerprintFault("platform", aspect, which),
    observed_at: new Date().toISOString(),
    host: null,
    target: { aspect },
  }));
}

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error("No answer in time")), TIMEOUT_MS);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
