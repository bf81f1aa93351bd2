/** What anchoring needs, on real servers: a ledger, and the world outside. */
import assert from "node:assert/strict";
import {
  type AnchorParts,
  buildReceiptProof,
  exportReceipts,
  openAnchors,
} from "../../../ledger/mod.ts";
import {
  type AttestationResult,
  openBitcoinSources,
  parseProof,
  verifyTimestamp,
} from "../../../ledger/anchors/ots/mod.ts";
import type { Store } from "../../../store/mod.ts";
import { startSealing, type TestSealing } from "../_ledger.ts";
import { TEST_NETWORK, type TestChain } from "./ots/_chain.ts";
import { type Outside, outside } from "./ots/_outside.ts";

/** A place for anchors. */
export interface AnchorBench extends Omit<Outside, "stop"> {
  readonly ledger: TestSealing;
  readonly anchoring: AnchorParts;
  /** Seals so many receipts and makes a batch of them. @returns its first position */
  batchOf(receipts: number): Promise<number>;
  /** What the proof of a receipt says, by the headers of the chain. */
  findings(position: number): Promise<AttestationResult[]>;
  /** The batch as the database has it. */
  // deno-lint-ignore no-explicit-any -- a row as the driver gives it
  rowOf(first: number): Promise<any>;
  stop(): Promise<void>;
}

/** Makes one. */
export async function anchorBench(): Promise<AnchorBench> {
  const [ledger, world] = await Promise.all([startSealing(), outside()]);
  const store = ledger.app;
  return {
    ...world,
    ledger,
    anchoring: {
      store,
      calendars: world.calendars.map(({ url }) => url),
      sources: openBitcoinSources(world.sources),
      network: TEST_NETWORK,
    },
    async batchOf(receipts) {
      await ledger.seal(receipts);
      return (await openAnchors(store)).at(-1)!.first;
    },
    findings: (position) => findingsOf(store, world.chain, position),
    rowOf: (first) => store.asPlatform()("anchors").where({ first }).first(),
    async stop() {
      world.stop();
      await ledger.stop();
    },
  };
}

/** What the proof of a receipt says, by the headers of a chain. */
export async function findingsOf(
  store: Store,
  { headers }: TestChain,
  position: number,
): Promise<AttestationResult[]> {
  const [receipt] = await exportReceipts(store, { from: position, to: position + 1 });
  const { digest, timestamp } = parseProof(await buildReceiptProof(store, receipt!));
  assert.equal(Buffer.from(digest).toString("hex"), receipt!.hash);
  const byHeight = new Map(headers.map((header, height) => [height, header]));
  return verifyTimestamp(timestamp, digest, byHeight, TEST_NETWORK);
}
