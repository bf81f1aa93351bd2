import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { bindAction } from "../../calls/approvals/mod.ts";
import { type ApprovalRequest, WORKFLOW } from "../../contract/domain/mod.ts";
import { exportReceipts } from "../../ledger/mod.ts";
import { listApprovalMoves } from "../../store/approvals/mod.ts";
import type { KeyRecord } from "../../store/keys/mod.ts";
import type { approval } from "../../workflows/mod.ts";
import { eventually } from "../_time.ts";
import { type LoopBench, openLoopBench, type WorkerProcess } from "./_loop_bench.ts";
import { createApprover, vote } from "./_people.ts";

const QUEUE = "itsm-approvals";

describe("an approval whose worker is killed with -9", () => {
  let bench: LoopBench;
  let worker: WorkerProcess;
  let ann: KeyRecord;
  let bob: KeyRecord;
  before(async () => {
    bench = await openLoopBench();
    ann = await createApprover(bench.store, "ann");
    bob = await createApprover(bench.store, "bob");
    worker = await bench.worker(QUEUE);
    worker.begin();
  });
  after(() => bench?.close());

  const ask = async (terms: Partial<ApprovalRequest> = {}) => {
    const id = `APR-${randomBytes(6).toString("hex")}`;
    const request: ApprovalRequest = {
      approval_id: id,
      subject: "test",
      action: { do: "it" },
      action_sha256: bindAction({ do: "it" }, '{"do":"it"}').actionSha256,
      requested_by: "program",
      needed: 1,
      expires_in_seconds: 3_600,
      escalate_after_seconds: 0,
      ...terms,
    };
    const handle = await bench.client.workflow.start<typeof approval>(WORKFLOW.approval, {
      taskQueue: QUEUE,
      workflowId: `approval-${id}`,
      args: [request],
    });
    return { id, handle, request };
  };
  const moves = async (id: string) =>
    (await listApprovalMoves(bench.store.asPlatform(), id)).map(({ move }) => move);
  const begun = (id: string) => eventually(async () => (await moves(id)).length > 0 || undefined);
  const receipts = async (id: string, count: number) =>
    await eventually(async () => {
      const all = await exportReceipts(bench.store, { from: 0, to: 10_000 });
      const found = all.map(({ text }) => JSON.parse(text)).filter(({ subject }) => subject === id);
      return found.length >= count ? found : undefined;
    });
  const replaceWorker = async (prepared = bench.worker(QUEUE)) => {
    worker.kill();
    await worker.ended;
    worker = await prepared;
    worker.begin();
  };

  it("goes on waiting, and counts the votes before and after", async () => {
    const { id, handle } = await ask({ needed: 2 });
    await vote(bench, id, "approved", ann);
    await replaceWorker();
    await assert.rejects(vote(bench, id, "approved", await createApprover(bench.store, "Ann ")));
    await vote(bench, id, "approved", bob);
    const { status, approvers } = await handle.result();
    assert.deepEqual([status, approvers], ["approved", [`key:${ann.id}`, `key:${bob.id}`]]);
    assert.deepEqual(await moves(id), ["requested", "approved", "approved"]);
    assert.equal((await receipts(id, 3)).length, 3);
  });

  it("makes each move once, although its worker died before it reported it", async () => {
    const { id, handle } = await ask();
    await begun(id);
    const next = await bench.worker(QUEUE);
    worker.dieAt({ when: "after", activity: "moveApproval" });
    const approved = vote(bench, id, "approved", ann);
    await worker.ended;
    await replaceWorker(Promise.resolve(next));
    assert.equal((await approved).status, "approved");
    assert.equal((await handle.result()).status, "approved");
    assert.deepEqual(await moves(id), ["requested", "approved"]);
    await sleep(500);
    assert.equal((await receipts(id, 2)).length, 2);
  });

  it("is stored and sealed once, although its worker died at the start", async () => {
    const next = await bench.worker(QUEUE);
    worker.dieAt({ when: "after", activity: "openApproval" });
    const { id } = await ask();
    await worker.ended;
    await replaceWorker(Promise.resolve(next));
    await vote(bench, id, "approved", ann);
    assert.deepEqual(await moves(id), ["requested", "approved"]);
    assert.equal((await receipts(id, 2)).length, 2);
  });

  it("expires on time while no worker runs, and can be reopened", async () => {
    const { id, handle, request } = await ask({ expires_in_seconds: 1 });
    await begun(id);
    const next = bench.worker(QUEUE);
    worker.kill();
    await worker.ended;
    await sleep(2_000);
    await replaceWorker(next);
    const { status, moves: count } = await handle.result();
    assert.deepEqual([status, count], ["expired", 2]);
    const again = await bench.client.workflow.start<typeof approval>(WORKFLOW.approval, {
      taskQueue: QUEUE,
      workflowId: `approval-${id}`,
      args: [{
        ...request,
        expires_in_seconds: 3_600,
        reopens: { status: "expired", moves: count },
      }],
    });
    await vote(bench, id, "reopened", bob);
    await vote(bench, id, "approved", bob);
    assert.equal((await again.result()).status, "approved");
    assert.deepEqual(await moves(id), ["requested", "expired", "reopened", "approved"]);
  });
});
