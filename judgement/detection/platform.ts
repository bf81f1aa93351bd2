import { recheckWeakness, SCAN_DETECTOR } from "../compliance/scans/mod.ts";
import { withTimeout } from "../../contract/mod.ts";
import { fingerprintFault } from "../../store/mod.ts";
import type { FindingRecord } from "../../store/incidents/mod.ts";
import type { PlatformFault } from "./_platform_fault.ts";
import {
  findAwayPlaces,
  findDatabaseFaults,
  findLedgerBreaks,
  findOldOutbox,
} from "./_store_faults.ts";
import { findFailedWorkflows, findQueueFaults } from "./_temporal_faults.ts";
import {
  type DetailedFinding,
  type DetectionContext,
  type Detector,
  type DetectorResult,
  type FaultId,
  looksAtShared,
  type RecheckResult,
} from "./detector.ts";

/** Finds the faults of one aspect of the platform. */
type FindFaults = (context: DetectionContext) => Promise<PlatformFault[]>;

const TIMEOUT_MS = 5_000;

/** Aspects of the platform. Each is looked at by itself, so that one that can't be does not hide the others. */
const ASPECTS: Readonly<Record<string, FindFaults>> = {
  backlog: findQueueFaults,
  failed_workflows: findFailedWorkflows,
  ledger: findLedgerBreaks,
  database: findDatabaseFaults,
  outbox: findOldOutbox,
  places: findAwayPlaces,
};

/** Looks at the platform itself. */
export const platform: Detector = {
  name: "platform",
  about:
    "Looks at the platform itself: Temporal's backlog and failed workflows, breaks of the ledger, database, outbox, places without a worker",
  ofHost: false,
  ofEveryTenant: false,
  configuration: ({ platform }) => platform,

  async detect(context): Promise<DetectorResult> {
    if (!looksAtShared(context)) return { probed: 0, found: [] };
    const problems: string[] = [];
    const aspects = Object.keys(ASPECTS);
    const found = await Promise.all(aspects.map(async (aspect) => {
      try {
        return await findAspectFaults(aspect, context);
      } catch {
        problems.push(`${aspect}_not_seen`);
        return [];
      }
    }));
    return { probed: aspects.length, found: found.flat(), problems };
  },

  recheck: recheckPlatform,
};

async function recheckPlatform(
  context: DetectionContext,
  { code, fingerprint }: FaultId,
  known: FindingRecord | undefined,
): Promise<RecheckResult> {
  if (known?.detector === SCAN_DETECTOR) {
    const scanner = String(known.target.scanner);
    const present = await recheckWeakness(context, scanner, fingerprint) ?? true;
    return { present, code: present ? code : "ok" };
  }
  const aspect = String(known?.target.aspect ?? "");
  if (!(aspect in ASPECTS)) return { present: false, code: "unknown_finding" };
  try {
    const found = await findAspectFaults(aspect, context);
    const now = found.find((one) => one.fingerprint === fingerprint);
    return now ? { present: true, code: now.code } : { present: false, code: "ok" };
  } catch {
    return { present: true, code }; // nobody can look, so it is assumed to be as before
  }
}

/** @throws where it takes too long, or can't be looked at */
async function findAspectFaults(
  aspect: string,
  context: DetectionContext,
): Promise<DetailedFinding[]> {
  const faults = await withTimeout(TIMEOUT_MS, ASPECTS[aspect]!(context));
  return await Promise.all(
    faults.map(async ({ which = "", ...fault }): Promise<DetailedFinding> => ({
      ...fault,
      detector: "platform",
      check: "platform",
      fingerprint: await fingerprintFault(context.store, "platform", aspect, which),
      observed_at: new Date().toISOString(),
      host: null,
      target: { aspect },
    })),
  );
}
