import assert from "node:assert/strict";
import { exportReceipts, listLedgerKeys, verifyChain } from "../../../ledger/mod.ts";
import {
  killDuringCommands,
  type Killed,
  type KilledPlatform,
  startKilledPlatform,
} from "./_kills.ts";

describe("agents, gateway, worker and PostgreSQL that are killed with -9 while commands run", () => {
  let platform: KilledPlatform;
  before(async () => void (platform = await startKilledPlatform(2)));
  after(() => platform?.close());

  it("bring each command to an end in its time, and none to run twice", async () => {
    const round: Killed[] = ["agent", "gateway", "talker", "worker", "PostgreSQL"];
    const { ends, faults } = await killDuringCommands(platform, [...round, ...round], {
      pauseMs: 1_500,
    });
    assert.deepEqual(faults, []);
    assert.ok((ends.get("done") ?? 0) > 2, JSON.stringify([...ends]));
    const { store } = platform;
    const receipts = await exportReceipts(store, { from: 0, to: 100_000 });
    const texts = receipts.map(({ text }) => text);
    assert.deepEqual((await verifyChain(texts, await listLedgerKeys(store))).breaks, []);
  });
});
