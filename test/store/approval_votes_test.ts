import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { Db } from "../../store/mod.ts";
import {
  acceptVote,
  getVote,
  listWaitingVotes,
  lockApproval,
  putApproval,
  putVote,
  type VoteMove,
} from "../../store/approvals/mod.ts";
import { storeAs, testStore } from "../_servers.ts";
import { anyApproval } from "./_approvals.ts";

const KEY = "0123456789abcdef";

describe("putVote()", () => {
  let test: Awaited<ReturnType<typeof testStore>>;
  let db: Db;
  let worker: Db;
  before(async () => {
    test = await testStore("gateway");
    db = test.store.asPlatform();
    worker = (await storeAs(test.store, "worker")).asPlatform();
  });
  after(() => test?.close());

  async function askForApproval(): Promise<string> {
    const id = `APR-${randomBytes(6).toString("hex")}`;
    await putApproval(db, anyApproval(id));
    return id;
  }

  const vote = (approvalId: string, move: VoteMove) =>
    db.transaction((trx) => putVote(trx, { approvalId, move, keyId: KEY }));

  async function untilSomebodyWaitsForALock(): Promise<void> {
    for (;;) {
      const waiting = await db.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      if (waiting.length > 0) return;
    }
  }

  it("joins the same vote that waits, and replaces another one", async () => {
    const approvalId = await askForApproval();
    const first = await vote(approvalId, "approved");
    assert.match(first, /^VOT-[0-9a-f]{12}$/);
    assert.equal(await vote(approvalId, "approved"), first);
    const second = await vote(approvalId, "denied");
    assert.notEqual(second, first);
    assert.equal((await getVote(db, first))!.refused!.name, "Conflict");
    const waiting = await listWaitingVotes(db, 0);
    assert.deepEqual(waiting, [
      {
        id: second,
        approvalId,
        move: "denied",
        keyId: KEY,
        reason: null,
        number: null,
        offer: null,
        signature: null,
        statement: null,
        refused: null,
      },
    ]);
    assert.deepEqual(await listWaitingVotes(db, 60), []);
  });

  it("lets a key's last vote count where two come at once", async () => {
    const approvalId = await askForApproval();
    const { denying } = await db.transaction(async (trx) => {
      await putVote(trx, { approvalId, move: "approved", keyId: KEY });
      const denying = vote(approvalId, "denied");
      await untilSomebodyWaitsForALock();
      return { denying }; // not awaited here: it waits for this transaction
    });
    assert.equal((await getVote(db, await denying))!.move, "denied");
  });

  it("waits for the move that the key's first vote becomes at that moment", async () => {
    const approvalId = await askForApproval();
    const first = await vote(approvalId, "approved");
    const { denying } = await worker.transaction(async (trx) => {
      await lockApproval(trx, approvalId);
      const denying = vote(approvalId, "denied");
      await untilSomebodyWaitsForALock();
      await acceptVote(trx, first, 2);
      return { denying };
    });
    const second = (await getVote(db, await denying))!;
    assert.deepEqual([second.move, second.number], ["denied", null]);
    assert.equal((await getVote(db, first))!.number, 2);
  });
});
