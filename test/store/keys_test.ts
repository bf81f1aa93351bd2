import assert from "node:assert/strict";
import { type Db, listen } from "../../store/mod.ts";
import {
  findKeyById,
  findKeys,
  findValidKeys,
  hashKey,
  isKeyShaped,
  KEYS_CHANGED,
  listKeys,
  listUnusedKeys,
  type NewKey,
  touchKeys,
} from "../../store/keys/mod.ts";
import { testStore } from "../_servers.ts";
import { asSuperuser, giveKey, takeKey } from "../_superuser.ts";

const PARTNER: Omit<NewKey, "tenant"> = {
  tier: "partner",
  scope: "full",
  principal: "Ann",
  mayApprove: true,
  expiresAt: null,
};

describe("keys", () => {
  let test: Awaited<ReturnType<typeof testStore>>;
  let db: Db;
  before(async () => {
    test = await testStore("gateway");
    db = test.store.asPlatform();
  });
  after(() => test?.close());

  const findKey = async (key: string) => (await findKeys(db, [hashKey(key)]))[0];

  it("are found by their hashes, in their order, until they are revoked", async () => {
    const { key, record } = await giveKey(test.store, PARTNER);
    assert.ok(isKeyShaped(key));
    const other = await giveKey(test.store, PARTNER);
    const hashes = [other.key, "unknown", key].map(hashKey);
    assert.deepEqual(await findKeys(db, hashes), [other.record, undefined, record]);
    await takeKey(test.store, record.id);
    assert.equal(await findKey(key), undefined);
    assert.equal(await findKeyById(db, record.id), undefined);
  });

  it("are found but not valid once they have expired, and every process is notified", async () => {
    const { key, record } = await giveKey(test.store, PARTNER);
    const notified: string[] = [];
    const listener = await listen(test.store, [KEYS_CHANGED], {
      onNotify: (_, id) => notified.push(id),
    });
    assert.deepEqual((await findValidKeys(db, [record.id, "none"])).map(({ id }) => id), [
      record.id,
    ]);
    await takeKey(test.store, record.id, new Date(Date.now() - 1_000));
    assert.ok(await findKey(key));
    assert.deepEqual(await findValidKeys(db, [record.id]), []);
    while (notified.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.deepEqual(notified, [record.id]);
    await listener.close();
  });

  it("are listed as unused by the day of their last use", async () => {
    const { record } = await giveKey(test.store, PARTNER);
    await asSuperuser(test.store).execute(
      "UPDATE keys SET created_at = now() - interval '91 days' WHERE id = $1",
      [
        record.id,
      ],
    );
    const { id, tier, mayApprove, expiresAt } = record;
    assert.deepEqual(await listUnusedKeys(db, 90), [{ id, tier, mayApprove, expiresAt, days: 91 }]);
    const now = new Date();
    await touchKeys(db, new Map([[id, now]]));
    await touchKeys(db, new Map([[id, new Date(0)]]));
    assert.deepEqual(await listUnusedKeys(db, 90), []);
    const listed = (await listKeys(db)).find((key) => key.id === id);
    assert.deepEqual(listed!.lastUsedAt, now);
  });
});
