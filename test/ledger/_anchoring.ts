/** What anchoring needs, on real servers: a ledger, two calendars, a chain, and two sources that tell of it. */
import assert from "node:assert/strict";
import { type Anchoring, exportReceipts, openAnchors, receiptProof } from "../../ledger/mod.ts";
import { bitcoinSources, type Finding, parseFile, verifyTimestamp } from "../../ledger/ots/mod.ts";
import { startSealing, type TestSealing } from "./_ledger.ts";
import { type TestCalendar, testCalendar } from "./ots/_calendar.ts";
import {
  bitcoinCore,
  esplora,
  type Lies,
  TEST_NETWORK,
  type TestChain,
  testChain,
} from "./ots/_chain.ts";

/** A place for anchors. */
export interface AnchorBench {
  readonly chain: TestChain;
  readonly ledger: TestSealing;
  readonly calendars: readonly [TestCalendar, TestCalendar];
  /** Of the first source, an Esplora; the second is a Bitcoin Core and honest. */
  readonly lies: Lies;
  readonly anchoring: Anchoring;
  /** Addresses of the two sources, as a setting has them. */
  readonly sources: readonly string[];
  /** Seals so many receipts and makes a batch of them. @returns its first position */
  batchOf(receipts: number): Promise<number>;
  /** Puts all that the calendars have promised into blocks, and five on those. */
  commitAll(): void;
  /** What the proof of a receipt says, by the headers of the chain. */
  findings(position: number): Promise<Finding[]>;
  /** The batch as the database has it. */
  // deno-lint-ignore no-explicit-any -- a row as the driver gives it
  rowOf(first: number): Promise<any>;
  /** Makes everybody honest and well again. */
  heal(): void;
  stop(): Promise<void>;
}

/** Makes one. */
export async function anchorBench(): Promise<AnchorBench> {
  const chain = testChain();
  const [ledger, first, second, ...calendars] = await Promise.all([
    startSealing(),
    esplora(chain),
    bitcoinCore(chain, "s3cr:t/%"),
    testCalendar(),
    testCalendar(),
  ]);
  const store = ledger.app;
  const sources = [first.url, second.url];
  return {
    ...{ chain, ledger, calendars, sources, lies: first.lies },
    anchoring: {
      store,
      calendars: calendars.map(({ url }) => url),
      sources: bitcoinSources(sources),
      network: TEST_NETWORK,
    },
    async batchOf(receipts) {
      await ledger.seal(receipts);
      return (await openAnchors(store)).at(-1)!.first;
    },
    commitAll() {
      for (const calendar of calendars) calendar.commit(chain);
      chain.bury(5);
    },
    async findings(position) {
      const headers = new Map(chain.headers.map((header, height) => [height, header]));
      const [receipt] = await exportReceipts(store, { from: position, to: position + 1 });
      const { digest, timestamp } = parseFile(await receiptProof(store, receipt!));
      assert.equal(Buffer.from(digest).toString("hex"), receipt!.hash);
      return verifyTimestamp(timestamp, digest, headers, TEST_NETWORK);
    },
    rowOf: (first) => store.knex("anchors").where({ first }).first(),
    heal() {
      for (const { faults } of calendars) delete faults.digest, delete faults.timestamp;
      delete first.lies.answer, delete first.lies.chain;
    },
    async stop() {
      for (const server of [first, second, ...calendars]) server.stop();
      await ledger.stop();
    },
  };
}
