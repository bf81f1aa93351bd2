/** A watched chain of 40 receipts. */
import {
  type ChainState,
  type ChainWatch,
  watchChain,
  type WatchOptions,
} from "../../../ledger/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { eventually } from "../../_time.ts";
import { startSealing, type TestSealing } from "../_ledger.ts";
import { runScrub, scrubParts, tamper } from "./_scrub.ts";

export const COUNT = 40;
export const EDIT = "UPDATE receipts SET category = 'another' WHERE position = 5";
export const UNDO = "UPDATE receipts SET category = 'test' WHERE position = 5";
export const TRUNCATE =
  `DELETE FROM receipts WHERE position >= 30; UPDATE ledger_head SET size = 30,
  hash = (SELECT hash FROM receipts WHERE position = 29)`;

/** A ledger, and the watches of a test. */
export interface WatchSetup {
  readonly sealing: TestSealing;
  watch(options?: WatchOptions): Promise<ChainWatch>;
  /** Closes the newest watch. */
  closeWatch(): Promise<void>;
  scrub(): Promise<unknown>;
  /** Runs statements as a superuser, without triggers. */
  tamper(sql: string): Promise<void>;
}

/** Starts a ledger before each test of a suite. */
export function useWatch(): WatchSetup {
  let sealing: TestSealing;
  let ledger: Store;
  const watches: ChainWatch[] = [];
  beforeEach(async () => {
    sealing = await startSealing();
    ledger = openStore(sealing.database.urls.ledger, "ledger");
    await sealing.seal(COUNT - 1); // and the genesis
  });
  afterEach(async () => {
    for (const watch of watches.splice(0)) await watch.close();
    await ledger.close();
    await sealing.stop();
  });
  return {
    get sealing() {
      return sealing;
    },
    async watch(options) {
      const opened = await watchChain(ledger, options);
      watches.push(opened);
      return opened;
    },
    async closeWatch() {
      await watches.pop()!.close();
    },
    scrub: () => runScrub(scrubParts(sealing)),
    tamper: (sql) => tamper(sealing, sql),
  };
}

/** Waits for a state of a watch. */
export async function waitForState(
  watch: ChainWatch,
  is: (state: ChainState) => boolean,
): Promise<ChainState> {
  return await eventually(async () => is(watch.state()) ? watch.state() : undefined);
}

/** Lists the positions of the first breaks. */
export const positionsOf = ({ first_breaks }: ChainState): number[] =>
  first_breaks.map(({ position }) => position);
