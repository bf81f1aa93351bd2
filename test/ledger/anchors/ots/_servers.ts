/** The servers that anchoring uses: two calendars, and two sources of a test chain, on loopback. */
import { startCalendar, type TestCalendar } from "./_calendar.ts";
import {
  type SourceFaults,
  startBitcoinCore,
  startEsplora,
  type TestChain,
  testChain,
} from "./_chain.ts";

/** Calendars and sources of a test. */
export interface BitcoinServers {
  readonly chain: TestChain;
  readonly calendars: readonly [TestCalendar, TestCalendar];
  /** Addresses of the two sources, as in a setting. */
  readonly sources: readonly string[];
  /** Faults of the first source, an Esplora; the second one, a Bitcoin Core, is honest. */
  readonly faults: SourceFaults;
  /** Settings by environment variable. */
  readonly settings: Record<string, string>;
  /** Commits everything promised, and mines the blocks that confirm it. */
  confirmAll(): void;
  /** Removes all faults. */
  heal(): void;
  stop(): void;
}

/** Starts them. */
export async function startBitcoinServers(): Promise<BitcoinServers> {
  const chain = testChain();
  const [first, second, ...calendars] = await Promise.all([
    startEsplora(chain),
    startBitcoinCore(chain, "s3cr:t/%"),
    startCalendar(),
    startCalendar(),
  ]);
  const sources = [first.url, second.url];
  return {
    chain,
    calendars,
    sources,
    faults: first.faults,
    settings: {
      SEALOOP_OTS_CALENDARS: calendars.map(({ url }) => url).join(),
      SEALOOP_BITCOIN_SOURCES: sources.join(),
      SEALOOP_ANCHOR_SECONDS: "1",
    },
    confirmAll() {
      for (const calendar of calendars) calendar.commit(chain);
      chain.bury(5);
    },
    heal() {
      for (const { faults } of calendars) delete faults.digest, delete faults.timestamp;
      delete first.faults.respond, delete first.faults.chain;
    },
    stop() {
      for (const server of [first, second, ...calendars]) server.stop();
    },
  };
}
