/** What anchoring reaches outside: two calendars, a chain, and two sources that tell of it, all on loopback. */
import { type TestCalendar, testCalendar } from "./_calendar.ts";
import { bitcoinCore, esplora, type Lies, type TestChain, testChain } from "./_chain.ts";

/** The world of a test. */
export interface Outside {
  readonly chain: TestChain;
  readonly calendars: readonly [TestCalendar, TestCalendar];
  /** Addresses of the two sources, as a setting has them. */
  readonly sources: readonly string[];
  /** Of the first source, an Esplora; the second is a Bitcoin Core and honest. */
  readonly lies: Lies;
  /** By the names of environment variables. */
  readonly settings: Record<string, string>;
  /** Puts all that the calendars have promised into blocks, and five on those. */
  commitAll(): void;
  /** Makes everybody honest and well again. */
  heal(): void;
  stop(): void;
}

/** Starts it. */
export async function outside(): Promise<Outside> {
  const chain = testChain();
  const [first, second, ...calendars] = await Promise.all([
    esplora(chain),
    bitcoinCore(chain, "s3cr:t/%"),
    testCalendar(),
    testCalendar(),
  ]);
  const sources = [first.url, second.url];
  return {
    ...{ chain, calendars, sources, lies: first.lies },
    settings: {
      SEALOOP_OTS_CALENDARS: calendars.map(({ url }) => url).join(),
      SEALOOP_BITCOIN_SOURCES: sources.join(),
      SEALOOP_ANCHOR_SECONDS: "1",
    },
    commitAll() {
      for (const calendar of calendars) calendar.commit(chain);
      chain.bury(5);
    },
    heal() {
      for (const { faults } of calendars) delete faults.digest, delete faults.timestamp;
      delete first.lies.answer, delete first.lies.chain;
    },
    stop() {
      for (const server of [first, second, ...calendars]) server.stop();
    },
  };
}
