import { receiptIdOf } from "../calls/mod.ts";
import { transportOf } from "../judgement/compliance/mod.ts";
import { SCAN_DETECTOR, scanAll, type ScannerResult } from "../judgement/compliance/scans/mod.ts";
import type { RunId, ScanResult } from "../contract/domain/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import type { Db } from "../store/mod.ts";
import {
  clearOtherFindings,
  listOpenFindings,
  recordDetectorRun,
  recordFindings,
} from "../store/incidents/mod.ts";
import { getStoredFacts, type StoredFacts } from "../store/platform/mod.ts";
import type { TenantParts } from "./parts.ts";
import { signWhole } from "./place_key.ts";

const ACTOR = "security-scan";

/** Creates the activity of a security scan. */
export function scanActivities({ config, store, place }: TenantParts) {
  const db = store.db;

  /**
   * Runs every scanner, replaces the findings of earlier scans, and requests a receipt; in one transaction. The receipt
   * also commits to facts that controls need and no other receipt has: transport, watched services, copies. Safe to
   * repeat: the run names the receipt, and a finding that is there already counts one more sighting.
   */
  async function runSecurityScan(run: RunId): Promise<ScanResult> {
    const [scans, facts] = await Promise.all([
      scanAll({ config, store }, (scan) => recordScannerRun(db, scan)), // one by one, to show the progress
      getStoredFacts(db),
    ]);
    const findings = scans.flatMap((scan) => scan.findings);
    const id = receiptIdOf(run, "SCAN");
    const receipt = { id, ...await signWhole(place, id, receiptOf(run, scans, facts)) };
    await db.transaction(async (trx) => {
      await replaceFindings(trx, scans, config.place);
      await requestSeal(trx, receipt);
    });
    return {
      scanners: scans.map(({ scanner, state, findings }) => {
        return { scanner, state, findings: findings.length };
      }),
      findings: findings.length,
      receipt_id: receipt.id,
    };
  }

  function receiptOf(
    run: RunId,
    scans: readonly ScannerResult[],
    { services, detectors }: StoredFacts,
  ) {
    const findings = scans.flatMap((scan) => scan.findings);
    return {
      category: "platform_scan",
      actor: ACTOR,
      subject: run.workflow_id,
      action: "security.scan",
      outcome: findings.length === 0 ? "clean" : "findings",
      details: {
        scanners: Object.fromEntries(scans.map(({ scanner, state }) => [scanner, state])),
        codes: countByCode(findings),
        ...run,
      },
      evidence: { findings, seen: { transport: transportOf(config), services, detectors } },
    };
  }

  return { runSecurityScan };
}

/** Stores the findings of a scan, and clears those that it no longer found; those of a scanner that failed stay. */
async function replaceFindings(
  trx: Db,
  scans: readonly ScannerResult[],
  place: string,
): Promise<void> {
  const scanned = { detector: SCAN_DETECTOR, host: place };
  const findings = scans.flatMap((scan) => scan.findings);
  const succeeded = new Set<string>(
    scans.filter(({ state }) => state === "ok").map(({ scanner }) => scanner),
  );
  const earlier = await listOpenFindings(trx, scanned);
  const notScanned = earlier.filter(({ target }) => !succeeded.has(String(target.scanner)));
  await recordFindings(trx, findings);
  await clearOtherFindings(trx, {
    detector: scanned.detector,
    hosts: [scanned.host],
    places: [place],
    present: [...findings, ...notScanned].map(({ fingerprint }) => fingerprint),
  });
}

async function recordScannerRun(
  db: Db,
  { scanner, state, duration_ms, findings }: ScannerResult,
): Promise<void> {
  await recordDetectorRun(db, {
    detector: `${SCAN_DETECTOR}:${scanner}`,
    duration_ms,
    probed: 1,
    findings: findings.length,
    error: state === "ok" ? null : state,
  });
}

function countByCode(findings: readonly { readonly code: string }[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { code } of findings) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
