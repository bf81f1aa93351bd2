import { hostname } from "node:os";
import { SCAN_DETECTOR, scanAll, type ScannerResult } from "../compliance/scans/mod.ts";
import {
  clearOtherFindings,
  type Db,
  getStoredFacts,
  listOpenFindings,
  recordDetectorRun,
  recordFindings,
} from "../store/mod.ts";
import type { RunId, ScanResult } from "../domain/mod.ts";
import { transportOf } from "../compliance/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { receiptIdOf } from "../calls/mod.ts";
import type { ActivityParts } from "./_parts.ts";

const LOOP_ACTOR = "security-scan";

/** Looking for weaknesses of the platform and its host. */
export function securityScans({ config, store }: ActivityParts) {
  /**
   * Looks with every scanner, notes what it finds in place of what it found before, and asks for a receipt of it, in one
   * transaction. The receipt is bound to what else controls are held against and no other receipt tells: how clients
   * reach the servers, what is watched, and whether copies are made. Safe to repeat: the receipt is the run's, and a finding that is there already is seen once more.
   */
  async function runSecurityScan(run: RunId): Promise<ScanResult> {
    const [scans, { services, detectors }] = await Promise.all([
      scanAll({ config, store }, (scan) => noteScan(store.asPlatform(), scan)), // by which who waits sees how far it is
      getStoredFacts(store.asPlatform()),
    ]);
    const found = scans.flatMap(({ findings }) => findings);
    const receiptId = receiptIdOf(run, "SCAN");
    const looked = new Set<string>(
      scans.filter((one) => one.state === "ok").map((one) => one.scanner),
    );
    await store.asPlatform().transaction(async (trx) => {
      const before = await listOpenFindings(trx, { detector: SCAN_DETECTOR, host: hostname() });
      const unseen = before.filter(({ target }) => !looked.has(String(target.scanner)));
      await recordFindings(trx, found);
      await clearOtherFindings(trx, {
        detector: SCAN_DETECTOR,
        host: hostname(),
        present: [...found, ...unseen].map(({ fingerprint }) => fingerprint),
      });
      await requestSeal(trx, {
        id: receiptId,
        category: "platform_scan",
        actor: LOOP_ACTOR,
        subject: run.workflow_id,
        action: "security.scan",
        outcome: found.length === 0 ? "clean" : "findings",
        details: {
          scanners: Object.fromEntries(scans.map(({ scanner, state }) => [scanner, state])),
          codes: countBy(found.map(({ code }) => code)),
          ...run,
        },
        evidence: {
          findings: found,
          seen: { transport: transportOf(config), services, detectors },
        },
      });
    });
    return {
      scanners: scans.map(({ scanner, state, findings }) => ({
        ...{ scanner, state, findings: findings.length },
      })),
      findings: found.length,
      receipt_id: receiptId,
    };
  }
  return { runSecurityScan };
}

async function noteScan(on: Db, { scanner, state, duration_ms, findings }: ScannerResult) {
  await recordDetectorRun(on, {
    detector: `${SCAN_DETECTOR}:${scanner}`,
    ...{ duration_ms, probed: 1, findings: findings.length },
    error: state === "ok" ? null : state,
  });
}

function countBy(codes: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const code of codes) counts[code] = (counts[code] ?? 0) + 1;
  return counts;
}
