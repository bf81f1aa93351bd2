import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  getVote,
  lockApproval,
  putApproval,
  putVote,
  acceptVote,
  } from "../../../store/mod.ts";
import { testStore } from "../../_servers.ts";

const KEY = "0123456789abcdef";

describe("what a key says twice about an approval", () => {
  let test: Awaited<ReturnType<typeof testStore>>;
  before(async () => {
    test = await testStore();
  });
  after(() => test?.close());

  async function asked(): Promise<string> {
    const id = `APR-${randomBytes(6).toString("hex")}`;
    await putApproval(test.store.asPlatform(), {
      ...{ id, subject: "test", ticketId: null, description: "", action: {}, needed: 1 },
      ...{ actionSha256: "0".repeat(64), requestedBy: "somebody", requestedByKey: null },
      ...{ expiresInSeconds: 60, escalateAfterSeconds: 60, askingRun: null },
    });
    return id;
  }
  const say = (approvalId: string, move: "approved" | "denied") =>
    test.store.asPlatform().transaction((trx) => putVote(trx, { approvalId, move, keyId: KEY }));
  /** Until a statement waits for what another one has locked. */
  async function somebodyWaits(): Promise<void> {
    for (;;) {
      const { rows } = await test.store.pool.query(
        "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'",
      );
      if (rows.length > 0) return;
    }
  }

  it("is what it says last, where both come at once", async () => {
    const approvalId = await asked();
    const denial = await test.store.asPlatform().transaction(async (trx) => {
      await putVote(trx, { approvalId, move: "approved", keyId: KEY });
      const denying = say(approvalId, "denied");
      await somebodyWaits();
      return { denying }; // not waited for: it waits for this
    });
    const voice = await getVote(test.store.asPlatform(), await denial.denying);
    assert.equal(voice!.move, "denied");
  });

  it("waits for the move that its first word becomes at that moment", async () => {
    const approvalId = await asked();
    const first = await say(approvalId, "approved");
    const { denying } = await test.store.asPlatform().transaction(async (trx) => {
      await lockApproval(trx, approvalId);
      const denying = say(approvalId, "denied");
      denying.catch(() => {});
      await somebodyWaits();
      await acceptVote(trx, first, 2);
      return { denying };
    });
    const second = (await getVote(test.store.asPlatform(), await denying))!;
    assert.deepEqual([second.move, second.number], ["denied", null]);
    assert.equal((await getVote(test.store.asPlatform(), first))!.number, 2);
  });
});
