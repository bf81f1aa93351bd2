import assert from "node:assert/strict";
import { type AnchorSweep, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import type { anchorBatch, anchorReceipts } from "../../workflows/mod.ts";
import { eventually } from "../_time.ts";
import { verifyReceiptProof } from "../ledger/anchors/_setup.ts";
import { TEST_NETWORK } from "../ledger/anchors/ots/_chain.ts";
import { type BitcoinServers, startBitcoinServers } from "../ledger/anchors/ots/_servers.ts";
import { anchorThroughKills, isPending } from "./_anchor_kills.ts";
import { openLoop, serveNoEngine, type TestLoop } from "./_loop.ts";

describe("anchorReceipts and anchorBatch", () => {
  let world: BitcoinServers;
  let loop: TestLoop;
  let runs = 0;

  let killed: Promise<void>;

  before(async () => {
    killed = anchorThroughKills(); // runs beside the other tests, as it mostly waits
    killed.catch(() => {});
    world = await startBitcoinServers();
    loop = await openLoop({
      settings: world.settings,
      network: TEST_NETWORK,
      serve: serveNoEngine,
    });
  });
  after(async () => {
    await loop?.stop();
    world?.stop();
  });
  afterEach(() => world.heal());

  const look = (): Promise<AnchorSweep> =>
    loop.client.workflow.execute<typeof anchorReceipts>(WORKFLOW.anchorReceipts, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `anchor-test-${runs++}`,
    });
  const run = (id: string) => loop.client.workflow.getHandle<typeof anchorBatch>(id);

  it("find nothing to anchor in an empty ledger", async () => {
    assert.deepEqual(await look(), { configured: true, anchors: [] });
  });

  it("batch the receipts since the last batch, wait for Bitcoin by a timer, and end when the block counts", async () => {
    await sealSome(loop, 3);
    const { anchors } = await look();
    assert.deepEqual(anchors, ["anchor-0-3"]); // with the genesis
    assert.deepEqual((await look()).anchors, anchors, "the same run, not another");
    const details = await eventually(async () => {
      const { raw } = await run(anchors[0]!).fetchHistory().then(({ events }) => ({
        raw: events!,
      }));
      return raw.some((event) => event.timerStartedEventAttributes) ? raw : undefined;
    });
    assert.equal(details.filter((e) => e.workflowExecutionStartedEventAttributes).length, 1);
    assert.equal((await run(anchors[0]!).describe()).status.name, "RUNNING");
    world.confirmAll();
    const { block_height } = await run(anchors[0]!).result();
    assert.ok(block_height > 0);
    for (const position of [0, 1, 2, 3]) await assertVerified(loop.store, world, position);
    assert.deepEqual((await look()).anchors, [], "the receipt of the anchor alone is no reason");
  });

  it("restart the run of a batch that was ended from outside", async () => {
    await sealSome(loop, 1);
    const { anchors: [id] } = await look();
    await run(id!).terminate("by hand");
    assert.deepEqual((await look()).anchors, [id]);
    await isPending(loop.store);
    world.confirmAll();
    await run(id!).result();
  });

  it("keep a batch pending while sources are away, and store the error", async () => {
    world.faults.respond = (response) => response.writeHead(503).end();
    await sealSome(loop, 1);
    const { anchors: [id] } = await look();
    await isPending(loop.store);
    world.confirmAll();
    await eventually(async () => {
      const { rows } = await loop.store.pool.query(
        "SELECT FROM anchors WHERE state = 'pending' AND last_error LIKE '%Only one source%503%'",
      );
      return rows[0];
    });
    assert.equal((await run(id!).describe()).status.name, "RUNNING");
    world.heal();
    await run(id!).result();
  });

  it("anchor every receipt once, although their workers are killed with -9", () => killed);
});

async function sealSome({ sealer }: TestLoop, count: number): Promise<void> {
  for (let i = 0; i < count; i++) {
    const { id } = await sealer.request({
      category: "test",
      actor: "tester",
      subject: "subject",
      action: "act",
      outcome: "ok",
    });
    await sealer.sealed(id);
  }
}

async function assertVerified(
  store: Store,
  world: BitcoinServers,
  position: number,
): Promise<void> {
  const findings = await verifyReceiptProof(store, world.chain, position);
  assert.equal(findings.filter(({ state }) => state === "verified").length, 1);
}
