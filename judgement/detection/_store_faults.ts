import { PLACE_AWAY, say } from "../../contract/domain/mod.ts";
import {
  countOpenBreaks,
  getDatabaseState,
  getOutboxState,
  listSilentPlaces,
} from "../../store/platform/mod.ts";
import type { PlatformFault } from "./_platform_fault.ts";
import type { DetectionContext } from "./detector.ts";

/** Finds breaks of the ledger. */
export async function findLedgerBreaks({ store }: DetectionContext): Promise<PlatformFault[]> {
  const { breaks, first } = await countOpenBreaks(store.db);
  if (breaks === 0) return [];
  const positions = `${breaks} position${breaks > 1 ? "s" : ""}`;
  return [{
    code: "ledger_broken",
    service: "public-ledger",
    severity: "critical",
    summary: say`The ledger is broken at ${positions}, the first of them ${first}`,
    detail: { breaks, first },
  }];
}

/** Finds that the database is slow, or that its connections run out. */
export async function findDatabaseFaults(
  { store, settings }: DetectionContext,
): Promise<PlatformFault[]> {
  const { database_ms: bound, connections_percent } = settings.platform;
  const { elapsedMs, connections, maxConnections } = await getDatabaseState(store.db);
  const faults: PlatformFault[] = [];
  if (elapsedMs > bound) {
    const elapsed = Math.round(elapsedMs);
    faults.push({
      code: "slow",
      service: "postgresql",
      severity: "medium",
      which: "slow",
      summary: say`The database took ${elapsed} ms to report its state`,
      detail: { elapsed_ms: elapsed, bound_ms: bound },
    });
  }
  if (100 * connections / maxConnections >= connections_percent) {
    faults.push({
      code: "connections_exhausted",
      service: "postgresql",
      severity: "high",
      which: "connections",
      summary: say`${connections} of ${maxConnections} connections of the database are used`,
      detail: { connections, max_connections: maxConnections },
    });
  }
  return faults;
}

/** Finds receipts that wait too long to be sealed. */
export async function findOldOutbox(
  { store, settings }: DetectionContext,
): Promise<PlatformFault[]> {
  const { waiting, oldestSeconds } = await getOutboxState(store.db);
  if (waiting === 0 || oldestSeconds < settings.platform.outbox_seconds) return [];
  const seconds = Math.round(oldestSeconds);
  return [{
    code: "outbox_old",
    service: "sequencer",
    severity: "high",
    summary: say`About ${waiting} receipts wait to be sealed, the oldest for ${seconds} s`,
    detail: { waiting, oldest_seconds: seconds },
  }];
}

/** Finds places that have had no worker for a while, whether or not an incident waits for one. */
export async function findAwayPlaces(
  { config, store }: DetectionContext,
): Promise<PlatformFault[]> {
  const away = await listSilentPlaces(store.db, config.settings.SEALOOP_PLACE_AWAY_SECONDS);
  return away.map(({ name, silent_seconds }) => {
    const seconds = Math.round(silent_seconds);
    return {
      code: PLACE_AWAY,
      service: "worker",
      severity: "high" as const,
      which: name,
      summary: say`The place ${name} has had no worker for ${seconds} s, and nobody looks at it`,
      detail: { place: name, silent_seconds: seconds },
    };
  });
}
