/** Anchoring on real servers: a ledger, calendars, and sources of a test chain. */
import assert from "node:assert/strict";
import {
  type AttestationResult,
  openBitcoinSources,
  parseProof,
  verifyTimestamp,
} from "../../../ledger/anchors/ots/mod.ts";
import {
  type AnchorParts,
  buildReceiptProof,
  exportReceipts,
  openAnchors,
} from "../../../ledger/mod.ts";
import type { Row, Store } from "../../../store/mod.ts";
import { prepareSealing, startSealing, type TestSealing } from "../_ledger.ts";
import { TEST_NETWORK, type TestChain } from "./ots/_chain.ts";
import { type BitcoinServers, startBitcoinServers } from "./ots/_servers.ts";

/** A ledger, and everything that anchoring it needs. */
export interface AnchorSetup extends Omit<BitcoinServers, "stop"> {
  readonly ledger: TestSealing;
  readonly parts: AnchorParts;
  /** Seals receipts and puts them into a batch. @returns its first position */
  openBatch(receipts: number): Promise<number>;
  /** Verifies the proof of a receipt against the headers of the chain. */
  verifyProof(position: number): Promise<AttestationResult[]>;
  /** Reads the row of a batch. */
  readRow(first: number): Promise<Row>;
  stop(): Promise<void>;
}

/** Starts all of it. @param isNew false: the ledger is empty, so that another one can be imported */
export async function startAnchoring({ isNew = true } = {}): Promise<AnchorSetup> {
  const [ledger, servers] = await Promise.all([
    isNew ? startSealing() : prepareSealing(),
    startBitcoinServers(),
  ]);
  if (isNew) await ledger.untilSealed(1);
  const store = ledger.app;
  return {
    ...servers,
    ledger,
    parts: {
      store,
      calendars: servers.calendars.map(({ url }) => url),
      sources: openBitcoinSources(servers.sources),
      network: TEST_NETWORK,
    },
    async openBatch(receipts) {
      await ledger.seal(receipts);
      return (await openAnchors(store)).at(-1)!.first;
    },
    verifyProof: (position) => verifyReceiptProof(store, servers.chain, position),
    async readRow(first) {
      return (await store.asPlatform().first("SELECT * FROM anchors WHERE first = $1", [first]))!;
    },
    async stop() {
      servers.stop();
      await ledger.stop();
    },
  };
}

/** Verifies the proof of a receipt against the headers of a chain. */
export async function verifyReceiptProof(
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
