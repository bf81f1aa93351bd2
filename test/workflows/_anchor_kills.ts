/**
 * A batch of receipts whose workers are killed, one after the other. It is not a row of `kills/`, as it counts all receipts
 * of a ledger, and needs one to itself.
 */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import {
  exportReceipts,
  getAnchorTotals,
  listLedgerKeys,
  openSealer,
  verifyChain,
} from "../../ledger/mod.ts";
import type { Store } from "../../store/mod.ts";
import type { anchorBatch, anchorReceipts } from "../../workflows/mod.ts";
import { eventually } from "../_time.ts";
import { verifyReceiptProof } from "../ledger/anchors/_setup.ts";
import { type BitcoinServers, startBitcoinServers } from "../ledger/anchors/ots/_servers.ts";
import { serveNoEngine } from "./_loop.ts";
import { type LoopBench, openLoopBench, type WorkerProcess } from "./_loop_bench.ts";

/** Sets up the kills of the workers, in the order of a batch's steps. */
const KILLS: readonly ((worker: WorkerProcess, world: BitcoinServers) => unknown)[] = [
  // A calendar has the digest, and its response never arrives.
  (worker, { calendars: [calendar] }) =>
    calendar.faults.digest = () => {
      delete calendar.faults.digest;
      worker.kill();
    },
  // A block is being checked.
  (worker, { faults }) =>
    faults.respond = () => {
      delete faults.respond;
      worker.kill();
    },
  // A block is confirmed, and the result of the activity is not reported.
  async (worker) => {
    const point = { run: "anchor-", when: "after", activity: "advanceAnchor" } as const;
    const { reached } = await worker.hold(point);
    void reached.then(() => worker.kill());
  },
];

/** Anchors a batch with workers that are killed, and checks the result. */
export async function anchorThroughKills(): Promise<void> {
  const world = await startBitcoinServers();
  const bench = await openLoopBench({ settings: world.settings, serve: serveNoEngine });
  try {
    let worker = await bench.worker(TASK_QUEUE.itsm);
    worker.begin();
    await sealSome(bench, 3);
    KILLS[0]!(worker, world);
    const swept = bench.client.workflow.execute<typeof anchorReceipts>(WORKFLOW.anchorReceipts, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: "anchor-test",
    });
    const committed = isPending(bench.store).then(world.confirmAll);
    for (const next of [...KILLS.slice(1), undefined]) {
      const successor = bench.worker(TASK_QUEUE.itsm);
      assert.equal(await worker.ended, "SIGKILL");
      worker = await successor;
      worker.begin();
      next?.(worker, world);
    }
    await committed;
    assert.deepEqual((await swept).anchors, ["anchor-0-3"]);
    await bench.client.workflow.getHandle<typeof anchorBatch>("anchor-0-3").result();
    await assertAnchored(bench, world);
  } finally {
    await bench.close();
    world.stop();
  }
}

/** Waits until calendars have taken a batch. */
export async function isPending({ pool }: Store): Promise<void> {
  const deadline = Date.now() + 150_000;
  const pending = "SELECT FROM anchors WHERE state = 'pending'";
  while ((await pool.query(pending)).rowCount === 0) {
    if (Date.now() > deadline) throw new Error("No calendar has taken a batch in 150 seconds");
    await sleep(25);
  }
}

async function sealSome({ store }: LoopBench, count: number): Promise<void> {
  const sealer = await openSealer(store);
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
  await sealer.close();
}

/** Checks that each receipt has one verified proof, and that one receipt says so. */
async function assertAnchored({ store }: LoopBench, world: BitcoinServers): Promise<void> {
  for (const position of [0, 1, 2, 3]) {
    const findings = await verifyReceiptProof(store, world.chain, position);
    assert.equal(findings.filter(({ state }) => state === "verified").length, 1);
    assert.ok(!findings.some(({ state }) => state === "failed"));
  }
  const { rows } = await store.pool.query("SELECT first, last, state FROM anchors");
  assert.deepEqual(rows, [{ first: "0", last: "3", state: "confirmed" }]);
  assert.deepEqual(await getAnchorTotals(store), {
    nextPosition: 4,
    confirmedBatches: 1,
    anchoredReceipts: 4,
  });
  const texts = await eventually(async () => {
    const receipts = await exportReceipts(store, { from: 0, to: 100 });
    return receipts.length > 4 ? receipts.map(({ text }) => text) : undefined;
  });
  const { breaks } = await verifyChain(texts, await listLedgerKeys(store));
  assert.deepEqual(breaks, []);
  const said = texts.map((text) => JSON.parse(text)).filter((r) => r.actor === "ledger-anchor");
  assert.equal(said.length, 1);
}
