import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../../contract/mod.ts";
import { type Finding, SEVERITIES } from "../../../contract/domain/mod.ts";
import type { Db } from "../../../store/mod.ts";
import {
  type FindingRecord,
  listDetectorRuns,
  listOpenFindings,
} from "../../../store/incidents/mod.ts";
import { SCAN_DETECTOR, SCANNER_NAMES, type ScannerName, type ScannerResult } from "./scan.ts";

/** A weakness with its place in the queue. */
export interface QueuedWeakness {
  /** From 0. */
  readonly index: number;
  readonly finding: FindingRecord;
}

/** The last run of a scanner. */
export interface ScannerRun {
  readonly scanner: ScannerName;
  readonly state: ScannerResult["state"] | "never_run";
  /** ISO 8601; null: it never ran. */
  readonly last_run_at: string | null;
}

const POLL_MS = 100;

/** Lists the weaknesses that are still present, the most severe first, then the oldest. */
export async function listWeaknesses(db: Db): Promise<QueuedWeakness[]> {
  const rank = ({ severity }: FindingRecord) => SEVERITIES.indexOf(severity);
  const findings = await listOpenFindings(db, { detector: SCAN_DETECTOR });
  findings.sort((a, b) =>
    rank(b) - rank(a) || a.first_seen_at.localeCompare(b.first_seen_at) ||
    a.fingerprint.localeCompare(b.fingerprint)
  );
  return findings.map((finding, index) => ({ index, finding }));
}

/**
 * Finds a weakness by its fingerprint, wherever it is in the queue, or by its place where no fingerprint is given.
 *
 * @throws {Problem} `NotFound`
 */
export async function findWeakness(
  db: Db,
  index: number,
  fingerprint: string | undefined,
): Promise<QueuedWeakness> {
  const queue = await listWeaknesses(db);
  const found = fingerprint === undefined
    ? queue[index]
    : queue.find(({ finding }) => finding.fingerprint === fingerprint);
  if (found) return found;
  throw new Problem("NotFound", describeMissing(queue.length, index, fingerprint));
}

function describeMissing(length: number, index: number, fingerprint: string | undefined): string {
  if (length === 0) return "The queue is empty; trigger_sie_scan scans again";
  return fingerprint === undefined
    ? `There is no index ${index} in the queue; its last is ${length - 1}`
    : `The weakness ${fingerprint} is no longer in the queue; nothing was done`;
}

/** Converts a weakness to the finding that the incident loop starts with. */
export function toLoopFinding(found: FindingRecord, requestedBy: string): Finding {
  return {
    service: found.service,
    detector: "platform",
    check: "platform",
    code: found.code,
    fingerprint: found.fingerprint,
    severity: found.severity,
    observed_at: found.last_seen_at,
    requested_by: requestedBy,
  };
}

/** Lists the last run of every scanner. */
export async function listScannerRuns(db: Db): Promise<ScannerRun[]> {
  const runs = new Map((await listDetectorRuns(db)).map((run) => [run.detector, run]));
  return SCANNER_NAMES.map((scanner) => {
    const run = runs.get(`${SCAN_DETECTOR}:${scanner}`);
    const state = run === undefined ? "never_run" : run.error ?? "ok";
    return {
      scanner,
      state: state as ScannerRun["state"],
      last_run_at: run?.last_run_at ?? null,
    };
  });
}

/**
 * Reports each scanner of a running scan as it ends, until `over` is aborted. A read that fails is repeated.
 *
 * @param before the scanners' runs before the scan
 */
export async function followScanners(
  db: Db,
  before: readonly ScannerRun[],
  report: (done: number, total: number, message: string) => void,
  over: AbortSignal,
): Promise<void> {
  const total = before.length;
  report(0, total, `scans ${before.map(({ scanner }) => scanner).join(", ")}`);
  let reported = 0;
  while (!over.aborted && reported < total) {
    const now = await listScannerRuns(db).catch(() => before);
    const waiting = before.filter(({ last_run_at }, n) => now[n]!.last_run_at === last_run_at)
      .map(({ scanner }) => scanner);
    const done = total - waiting.length;
    if (done > reported && !over.aborted) {
      report(done, total, waiting.length > 0 ? `scans ${waiting.join(", ")}` : "stores the result");
      reported = done;
    }
    await sleep(POLL_MS, undefined, { signal: over }).catch(() => {});
  }
}
