import assert from "node:assert/strict";
import type { Db } from "../../store/mod.ts";
import {
  beginHeldCall,
  collectHeldCall,
  countWaitingCalls,
  endHeldCall,
  findHeldCall,
  findHeldCallLike,
  getHeldCall,
  intendHeldCall,
  type NewHeldCall,
  putApproval,
  putHeldCall,
  withdrawHeldCall,
} from "../../store/approvals/mod.ts";
import { testStore } from "../_servers.ts";
import { anyApproval } from "./_approvals.ts";

const KEY = "0123456789abcdef";
const SECRET = "whsec_ABCDEFGHIJKLMNOP";

describe("a held call", () => {
  let test: Awaited<ReturnType<typeof testStore>>;
  let db: Db;
  let count = 0;
  before(async () => {
    test = await testStore();
    db = test.store.asPlatform();
  });
  after(() => test?.close());

  async function newCall(disk: string): Promise<NewHeldCall> {
    const id = `APR-${String(++count).padStart(12, "0")}`;
    const actionSha256 = disk.padEnd(64, "0");
    await putApproval(db, {
      ...anyApproval(id),
      subject: "tool:wipe_disk",
      actionSha256,
      requestedBy: "agent",
      requestedByKey: KEY,
      escalateAfterSeconds: 0,
    });
    return {
      approvalId: id,
      decisionId: "GOV-000000000001",
      door: "mcp",
      tool: "wipe_disk",
      operation: "disks.wipe",
      input: JSON.stringify({ disk, passes: 1 }),
      actionSha256,
      keyId: KEY,
      address: "127.0.0.1",
    };
  }

  it("is joined by the same call of its key until its end is collected", async () => {
    const first = await newCall("sda");
    const same = await newCall("sda");
    assert.ok(await putHeldCall(db, first));
    assert.ok(!await putHeldCall(db, same));
    assert.equal((await findHeldCall(db, KEY, first.actionSha256))!.approvalId, first.approvalId);
    const like = await findHeldCallLike(db, KEY, "wipe_disk", '{"disk":"sda"}');
    assert.equal(like!.approvalId, first.approvalId);
    assert.equal(await findHeldCallLike(db, KEY, "wipe_disk", '{"disk":"sdb"}'), undefined);
    assert.equal(await countWaitingCalls(db, KEY), 1);
    assert.ok(await collectHeldCall(db, (await getHeldCall(db, first.approvalId))!));
    assert.equal(await countWaitingCalls(db, KEY), 0);
    assert.ok(await putHeldCall(db, same));
  });

  it("is begun by one process and ended once, and keeps secrets until its end is collected", async () => {
    const call = await newCall(SECRET);
    await putHeldCall(db, call);
    assert.deepEqual(
      [await intendHeldCall(db, call.approvalId), await intendHeldCall(db, call.approvalId)],
      [true, false],
    );
    const begun = await Promise.all(
      [1, 2].map((holder) => beginHeldCall(db, call.approvalId, holder)),
    );
    assert.deepEqual(begun.sort(), [false, true]);
    assert.ok(!await withdrawHeldCall(db, call.approvalId, { error: null, receiptId: "r" }));
    const end = {
      output: `{"wiped":"${SECRET}"}`,
      error: null,
      receiptId: "r",
      state: "done",
    } as const;
    assert.ok(await endHeldCall(db, call.approvalId, end));
    assert.ok(!await endHeldCall(db, call.approvalId, { ...end, state: "failed" }));
    const ended = (await getHeldCall(db, call.approvalId))!;
    assert.deepEqual([ended.state, ended.output], ["done", end.output]);
    assert.ok(await collectHeldCall(db, ended));
    assert.ok(!await collectHeldCall(db, ended));
    const { input, output } = (await getHeldCall(db, call.approvalId))!;
    assert.deepEqual(JSON.parse(output!), { wiped: "[secret]" });
    assert.deepEqual(JSON.parse(input), { disk: "[secret]", passes: 1 });
  });

  it("keeps no secrets where it ends after its denial was collected", async () => {
    const call = await newCall(`${SECRET}2`);
    await putHeldCall(db, call);
    await collectHeldCall(db, (await getHeldCall(db, call.approvalId))!);
    assert.ok(
      (await getHeldCall(db, call.approvalId))!.input.includes(SECRET),
      "it may be reopened",
    );
    await endHeldCall(db, call.approvalId, {
      output: `{"wiped":"${SECRET}"}`,
      error: null,
      receiptId: "r",
      state: "done",
    });
    const { input, output } = (await getHeldCall(db, call.approvalId))!;
    assert.ok(!`${input}${output}`.includes(SECRET));
  });
});
