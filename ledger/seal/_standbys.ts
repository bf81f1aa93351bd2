import { setTimeout as sleep } from "node:timers/promises";
import type pg from "pg";

/** Too few standbys have what is committed, at the end of the sequencer's turn. */
export class StandbysMissing extends Error {
  override readonly name = "StandbysMissing";
}

/** Options of {@linkcode openStandbyGate}. */
export interface StandbyOptions {
  /** Number of synchronous standbys without which nothing is committed. Default: 0. */
  readonly requireSync?: number;
  /** Called when a commit begins to wait for standbys, with what is missing, and with null when it goes on. */
  readonly onStandbys?: (missing: string | null) => void;
}

/** Waits until enough standbys are there. @throws {StandbysMissing} the signal ends the wait */
export type StandbyGate = () => Promise<void>;

const POLL_MS = 500;

/**
 * Opens the gate before each commit: it lets pass while as many synchronous standbys as required receive what is committed.
 * PostgreSQL itself makes each commit wait until they have it, by its `synchronous_standby_names`; the gate keeps those from
 * being fewer, as a failover manager may have it.
 *
 * @param writer connection that commits
 */
export function openStandbyGate(
  writer: pg.Client,
  { requireSync = 0, onStandbys = () => {} }: StandbyOptions,
  signal: AbortSignal,
): StandbyGate {
  async function findMissing(): Promise<string | undefined> {
    const { rows: [row] } = await writer.query("SELECT synchronous FROM count_standbys()");
    if (row.synchronous === null) {
      return "the right to see them: grant pg_read_all_stats to sealoop_statistics";
    }
    if (row.synchronous >= requireSync) return undefined;
    return `${requireSync} synchronous standbys, of which there are ${row.synchronous}`;
  }
  return async () => {
    if (requireSync === 0) return;
    let told: string | undefined;
    for (;;) {
      const missing = await findMissing();
      if (missing === undefined) break;
      if (told !== missing) onStandbys(told = missing);
      await sleep(POLL_MS, undefined, { signal }).catch(() => {});
      if (signal.aborted) throw new StandbysMissing(`Commits wait for ${missing}`);
    }
    if (told !== undefined) onStandbys(null);
  };
}
