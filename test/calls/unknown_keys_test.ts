import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { issueSealedKey, openFailureLimiter, openKeyring } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { KEY_PREFIX } from "../../contract/domain/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import { storeAs, testStore } from "../_servers.ts";
import { issueAgentKey } from "./_platform.ts";

const HERE = "198.51.100.1";
const ELSEWHERE = "198.51.100.2";
const LIMIT = 5;

const unknownKey = () => `${KEY_PREFIX}_partner_${randomBytes(32).toString("base64url")}`;
const isLimited = (error: unknown) => error instanceof Problem && error.name === "RateLimited";

describe("unknown keys", () => {
  let test: Awaited<ReturnType<typeof testStore>>;
  before(async () => {
    test = await testStore("gateway");
  });
  after(() => test?.close());

  /** Opens a keyring, and counts what it asks the database about. */
  async function open(limit = LIMIT) {
    const asked = { lookups: 0, keys: 0 };
    const db = test.store.asPlatform();
    const counting: Db = {
      ...db,
      query: (sql, values) => {
        if (typeof sql !== "string" && sql.name === "find_keys") {
          asked.lookups++;
          asked.keys += (values![0] as unknown[]).length;
        }
        return db.query(sql, values);
      },
    };
    const store: Store = { ...test.store, asPlatform: () => counting };
    const keyring = await openKeyring(store, openFailureLimiter(limit));
    return { keyring, asked };
  }

  it("are looked up once, until keys change", async () => {
    const { keyring, asked } = await open(100);
    const key = unknownKey();
    for (let n = 0; n < 10; n++) assert.equal(await keyring.find(key, HERE), undefined);
    assert.equal(asked.lookups, 1);
    await keyring.close();
  });

  it("are refused beyond the limit of their address, by a look that all of them share", async () => {
    const { keyring, asked } = await open();
    const seen = unknownKey();
    assert.equal(await keyring.find(seen, HERE), undefined);
    for (let n = 1; n < LIMIT; n++) assert.equal(await keyring.find(unknownKey(), HERE), undefined);
    await assert.rejects(keyring.find(seen, HERE), (error: Problem) => {
      assert.ok(isLimited(error));
      assert.match(error.message, /too many unknown keys \(5\/minute\); wait \d+ seconds/);
      return true;
    });
    assert.equal(asked.lookups, LIMIT, "it is known to be unknown");
    const many = Array.from({ length: 100 }, () => keyring.find(unknownKey(), HERE));
    for (const result of await Promise.allSettled(many)) {
      assert.ok(result.status === "rejected" && isLimited(result.reason));
    }
    assert.ok(asked.lookups <= LIMIT + 2, String(asked.lookups));
    assert.equal(await keyring.find(unknownKey(), ELSEWHERE), undefined);
    await keyring.close();
  });

  it("beyond a thousand that wait for that look are refused without one", async () => {
    const { keyring, asked } = await open(0);
    const many = Array.from({ length: 1_500 }, () => keyring.find(unknownKey(), HERE));
    const refused = await Promise.allSettled(many);
    assert.ok(refused.every((result) => result.status === "rejected" && isLimited(result.reason)));
    assert.equal(asked.lookups, 1);
    assert.equal(asked.keys, 1_000);
    await keyring.close();
  });

  it("of an address do not lock out a valid key that is new to this process", async () => {
    const { keyring, asked } = await open();
    const { key } = await issueAgentKey(test.store);
    for (let n = 0; n < LIMIT; n++) await keyring.find(unknownKey(), HERE);
    const { lookups } = asked;
    const [found] = await Promise.all([
      keyring.find(key, HERE),
      ...Array.from({ length: 50 }, () => keyring.find(unknownKey(), HERE).catch(() => {})),
    ]);
    assert.ok(found);
    assert.ok(asked.lookups <= lookups + 2, "each takes a second");
    await keyring.close();
  });

  it("do not lock out a key that was seen before, whatever keys change, nor count valid ones", async () => {
    const { keyring, asked } = await open();
    const { key } = await issueAgentKey(test.store);
    for (let n = 0; n < 3 * LIMIT; n++) {
      const { key: other } = await issueAgentKey(test.store);
      assert.ok(await keyring.find(other, HERE));
    }
    assert.ok(await keyring.find(key, HERE));
    for (let n = 0; n < LIMIT; n++) await keyring.find(unknownKey(), HERE);
    await assert.rejects(keyring.find(unknownKey(), HERE), isLimited);
    const { lookups } = asked;
    const timesMs = [];
    for (let n = 0; n < 3; n++) {
      const startedMs = performance.now();
      keyring.refresh();
      assert.ok(await keyring.find(key, HERE));
      timesMs.push(performance.now() - startedMs);
    }
    assert.equal(asked.lookups, lookups + 3);
    assert.ok(Math.min(...timesMs) < 900, "it does not wait for the slow look");
    await keyring.close();
  });

  it("that are sent at once share a look, and are refused from then on", async () => {
    const { keyring, asked } = await open();
    const { key } = await issueAgentKey(test.store);
    const results = await Promise.allSettled(
      Array.from({ length: 200 }, (_, n) => keyring.find(n % 2 ? key : unknownKey(), HERE)),
    );
    const found = results.filter((one) => one.status === "fulfilled" && one.value);
    assert.equal(found.length, 100, "no valid key is refused");
    const limited = results.filter((one) => one.status === "rejected" && isLimited(one.reason));
    assert.equal(limited.length, 100 - LIMIT);
    assert.ok(asked.lookups <= 8, String(asked.lookups));
    await assert.rejects(keyring.find(unknownKey(), HERE), isLimited);
    await keyring.close();
  });

  it("take bounded memory: many addresses share one count in the end", () => {
    const failures = openFailureLimiter(1);
    for (let n = 0; n < 10_000; n++) failures.count(`address ${n}`);
    failures.check("address 10001", "unknown keys");
    failures.count("address 10001");
    assert.throws(() => failures.check("address 10002", "unknown keys"), isLimited);
  });

  it("are found as soon as they are issued", async () => {
    const { keyring } = await open();
    assert.equal(await keyring.find(unknownKey(), HERE), undefined);
    const operator = await storeAs(test.store, "operator");
    const issued = await issueSealedKey(operator, "operator", {
      tenant: "test",
      tier: "partner",
      scope: "full",
      principal: "x",
      mayApprove: false,
      expiresAt: null,
    });
    assert.equal((await keyring.find(issued.key, HERE))?.id, issued.record.id);
    await keyring.close();
  });
});
