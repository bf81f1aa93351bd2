import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { SignedGrant } from "../../contract/domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  findGrantOfAct,
  getGrant,
  type GrantRecord,
  putGrant,
  revokeGrant,
  takeGrantUse,
} from "../../store/grants/mod.ts";
import { storeAs, testStore } from "../_servers.ts";

describe("takeGrantUse()", () => {
  let test: Awaited<ReturnType<typeof testStore>>;
  let gateway: Db;
  let worker: Db;
  before(async () => {
    test = await testStore("gateway");
    gateway = test.store.asPlatform();
    worker = (await storeAs(test.store, "worker")).asPlatform();
  });
  after(() => test?.close());

  async function newGrant(max_uses: number): Promise<GrantRecord> {
    const id = `GRN-${randomBytes(6).toString("hex")}`;
    await putGrant(gateway, {
      id,
      terms: {
        grant_id: id,
        tenant_id: "platform",
        acts: [],
        max_uses,
        expires_at: new Date(Date.now() + 60_000).toISOString(),
        made_by: "ann",
        needed: 1,
      },
      signed: {} as SignedGrant,
      madeByKey: "0123456789abcdef",
      approvalId: null,
      receiptId: "0123456789abcdef",
    });
    return (await getGrant(gateway, id))!;
  }

  const use = (db: Db, grant: GrantRecord, act: string) =>
    db.transaction((trx) => takeGrantUse(trx, grant, act));

  it("counts each use once, and never more than the grant has, in two processes at once", async () => {
    const grant = await newGrant(5);
    const numbers = await Promise.all(
      Array.from(
        { length: 20 },
        (_, n) => use(n % 2 ? gateway : worker, grant, `${grant.id}-${n}`),
      ),
    );
    const counted = numbers.filter((number) => number !== undefined);
    assert.deepEqual(counted.toSorted(), [1, 2, 3, 4, 5]);
    assert.equal((await getGrant(gateway, grant.id))!.uses, 5);
    const act = `${grant.id}-${numbers.indexOf(3)}`;
    assert.deepEqual(await findGrantOfAct(worker, act), { grantId: grant.id, number: 3 });
  });

  it("gives none after a revocation, for which uses that have begun wait", async () => {
    const grant = await newGrant(1_000);
    const order: string[] = [];
    await Promise.all(Array.from({ length: 12 }, async (_, n) => {
      if (n === 5) {
        await gateway.transaction((trx) => revokeGrant(trx, grant.id, "ann"));
        order.push("revoked");
      } else if (await use(worker, grant, `${grant.id}-${n}`) !== undefined) order.push("used");
    }));
    const { uses } = (await getGrant(gateway, grant.id))!;
    assert.equal(order.filter((one) => one === "used").length, uses);
    assert.equal(await use(worker, grant, `${grant.id}-late`), undefined);
  });

  it("is not given back: no process deletes a use or changes one", async () => {
    const grant = await newGrant(1);
    await use(worker, grant, `${grant.id}-1`);
    for (const db of [gateway, worker]) {
      await assert.rejects(db.execute("DELETE FROM grant_uses"), { code: "42501" });
      await assert.rejects(db.execute("UPDATE grant_uses SET number = 9"), { code: "42501" });
    }
    await assert.rejects(worker.execute("UPDATE grants SET expires_at = now()"), { code: "42501" });
    await assert.rejects(gateway.execute("UPDATE grants SET terms = '{}'"), { code: "42501" });
  });
});
