/** Keys that are revoked or rotated while processes have them cached. */
import assert from "node:assert/strict";
import {
  type Keyring,
  openFailureLimiter,
  openKeyring,
  revokeSealedKey,
  rotateSealedKey,
} from "../../calls/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import { storeAs, testStore } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";
import { issueAgentKey } from "./_platform.ts";

const HERE = "198.51.100.1";
const ACTOR = "operator";

describe("a key that is taken away", () => {
  let test: Awaited<ReturnType<typeof testStore>>;
  let operator: Store;
  let here: Keyring;
  let elsewhere: Keyring;
  before(async () => {
    test = await testStore("gateway");
    operator = await storeAs(test.store, "operator");
    here = await openKeyring(test.store, openFailureLimiter(10_000));
    elsewhere = await openKeyring(test.store, openFailureLimiter(10_000));
  });
  after(async () => {
    await Promise.all([here?.close(), elsewhere?.close()]);
    await test?.close();
  });

  /** Issues a key that both processes have cached. */
  async function issueCached() {
    const { key, record } = await issueAgentKey(test.store);
    for (const keyring of [here, elsewhere]) {
      assert.equal((await keyring.find(key, HERE))?.id, record.id);
    }
    return { key, id: record.id };
  }
  async function untilRefused(keyring: Keyring, key: string): Promise<void> {
    while (await keyring.find(key, HERE)) await new Promise((done) => setTimeout(done, 1));
  }
  /** Does work while this process takes it to be a time. */
  async function atTime(time: () => number, work: () => Promise<void>): Promise<void> {
    const { now } = Date;
    try {
      Date.now = time;
      await work();
    } finally {
      Date.now = now;
    }
  }
  const parts = () => ({ store: operator, keyring: here });

  it("is refused by the process that has revoked it, from its answer on", async () => {
    for (let n = 0; n < 100; n++) {
      const { key, id } = await issueCached();
      await revokeSealedKey(parts(), ACTOR, id);
      assert.equal(await here.find(key, HERE), undefined, `key ${n}`);
    }
  });

  it("is refused by the process that has rotated it without grace, from its answer on", async () => {
    for (let n = 0; n < 50; n++) {
      const { key, id } = await issueCached();
      const { key: newKey } = await rotateSealedKey(parts(), ACTOR, id, 0);
      assert.equal(await here.find(key, HERE), undefined, `key ${n}`);
      assert.ok(await here.find(newKey, HERE));
    }
  });

  it("is refused by other processes as soon as they are notified", async () => {
    const now = Date.now();
    await atTime(() => now, async () => { // nothing cached gets old
      const revoked = await issueCached();
      await revokeSealedKey(parts(), ACTOR, revoked.id);
      await untilRefused(elsewhere, revoked.key);
      const rotated = await issueCached();
      await rotateSealedKey(parts(), ACTOR, rotated.id, 0);
      await untilRefused(elsewhere, rotated.key);
    });
  });

  it("is not cached by a look that began before it was revoked", async () => {
    let letGo = () => {};
    let hasRead = () => {};
    const held = new Promise<void>((resolve) => letGo = resolve);
    const read = new Promise<void>((resolve) => hasRead = resolve);
    const db = test.store.asPlatform();
    let looks = 0;
    const slow: Db = {
      ...db,
      async query(sql, values) {
        const rows = await db.query(sql, values);
        const isFirst = typeof sql !== "string" && sql.name === "find_keys" && ++looks === 1;
        if (isFirst) {
          hasRead();
          await held;
        }
        return rows as never;
      },
    };
    const store: Store = { ...test.store, asPlatform: () => slow };
    const keyring = await openKeyring(store, openFailureLimiter(100));
    const { key, record } = await issueAgentKey(test.store);
    const found = keyring.find(key, HERE);
    await read;
    await revokeSealedKey({ store: operator, keyring }, ACTOR, record.id);
    letGo();
    assert.ok(await found, "this look was earlier");
    assert.equal(await keyring.find(key, HERE), undefined);
    await keyring.close();
  });

  it("is refused after half a minute where no notification comes", async () => {
    const now = Date.now();
    let later = 0;
    await atTime(() => now + later, async () => {
      const { key, id } = await issueCached();
      const revoke = "UPDATE keys SET revoked_at = now() WHERE id = $1";
      await asSuperuser(test.store).execute(revoke, [id]);
      assert.ok(await here.find(key, HERE), "nobody has told it");
      later = 30_000;
      assert.equal(await here.find(key, HERE), undefined);
    });
  });
});
