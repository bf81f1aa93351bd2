import assert from "node:assert/strict";
import { randomInt } from "node:crypto";
import { type Db, listen, openStore, type Store } from "../../store/mod.ts";
import {
  addMessage,
  getNewestPosition,
  listMessages,
  listMessagesAfter,
  MESSAGES_ADDED,
  type NewMessage,
} from "../../store/notices/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";
import { sized } from "../_size.ts";

const WRITERS = 8;
const RECONNECTS = sized(50);
const TENANTS = ["acme", "rival"];

describe("the feed", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.worker, "worker", WRITERS + 4);
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  const said = (text: string, more: Partial<NewMessage> = {}): NewMessage => ({
    kind: "said",
    from: "ana@example.com",
    subject: "",
    text,
    ...more,
  });
  const textsAfter = async (db: Db, position: number, limit = 1_000) =>
    (await listMessagesAfter(db, position, limit)).map(({ text }) => text);

  it("loses no message whose transaction commits late", async () => {
    const db = store.asTenant("late");
    await addMessage(db, said("first"));
    await db.transaction(async (trx) => {
      await addMessage(trx, said("begun early, committed late"));
      await addMessage(db, said("begun late, committed early")); // another connection
      assert.deepEqual(await textsAfter(db, 0), ["first", "begun late, committed early"]);
    });
    assert.equal(await getNewestPosition(db), 3);
    assert.deepEqual(await textsAfter(db, 2), ["begun early, committed late"]);
  });

  it("leaves no gap where a transaction is rolled back", async () => {
    const db = store.asTenant("undone");
    await addMessage(db, said("a"));
    await assert.rejects(db.transaction(async (trx) => {
      await addMessage(trx, said("never"));
      throw new Error("no");
    }));
    await addMessage(db, said("b"));
    const messages = await listMessagesAfter(db, 0, 10);
    assert.deepEqual(messages.map(({ position, text }) => [position, text]), [[1, "a"], [2, "b"]]);
  });

  it("tells the same news once", async () => {
    const db = store.asTenant("once");
    assert.match((await addMessage(db, said("news", { key: "k" })))!, /^MSG-[0-9a-f]{12}$/);
    assert.equal(await addMessage(db, said("news", { key: "k" })), undefined);
    assert.ok(await addMessage(store.asTenant("another"), said("news", { key: "k" })));
    assert.deepEqual(await textsAfter(db, 0), ["news"]);
  });

  it("lists newest first, by pages, and by kind and ticket", async () => {
    const db = store.asTenant("listed");
    for (let n = 1; n <= 5; n++) await addMessage(db, said(`${n}`));
    const refs = { ticket_id: "INC-000000000001" };
    await addMessage(db, said("opened", { kind: "incident.opened", refs, severity: "high" }));
    const texts = async (...args: [Parameters<typeof listMessages>[1], number]) => {
      const { total, messages } = await listMessages(db, ...args);
      return [total, messages.map(({ text }) => text)];
    };
    assert.deepEqual(await texts({}, 2), [6, ["opened", "5"]]);
    assert.deepEqual(await texts({ before: 3 }, 10), [6, ["2", "1"]]);
    assert.deepEqual(await texts({ kind: "said" }, 1), [5, ["5"]]);
    assert.deepEqual(await texts({ ticketId: refs.ticket_id }, 10), [1, ["opened"]]);
  });

  it("can be written with no position of a role's own choice", async () => {
    const db = store.asTenant("forged");
    const forge = "INSERT INTO messages (id, position, kind, sender, subject, text)";
    await assert.rejects(db.execute(`${forge} VALUES ('MSG-1', 9, 'said', '', '', '')`), {
      code: "42501",
    });
    await assert.rejects(db.execute("UPDATE messages SET position = 9"), { code: "42501" });
  });

  it("has no gap and no duplicate, with many messages, writers and reconnects", async () => {
    const perTenant = sized(5_000);
    let left = perTenant * TENANTS.length;
    let writing = true;
    let n = 0;
    const write = async () => {
      while (left > 0) {
        const count = Math.min(left, randomInt(1, 6));
        left -= count;
        const tenants = Array.from({ length: count }, () => TENANTS[n++ % TENANTS.length]!);
        for (const tenant of TENANTS) {
          const mine = tenants.filter((name) => name === tenant).length;
          if (mine === 0) continue;
          await store.asTenant(tenant).transaction(async (trx) => {
            for (let i = 0; i < mine; i++) await addMessage(trx, said(tenant));
          });
        }
      }
    };
    /** Reads as a client does: from the position that it has seen last, over ever new connections. */
    const follow = async (tenant: string) => {
      const seen: number[] = [];
      const read = async (db: Db, limit: number) => {
        const messages = await listMessagesAfter(db, seen.at(-1) ?? 0, limit);
        for (const { position, text } of messages) {
          assert.equal(text, tenant);
          seen.push(position);
        }
        return messages.length;
      };
      for (let connection = 0; connection < RECONNECTS; connection++) {
        const own = openStore(database.urls.gateway, "gateway", 1);
        let wake = () => {};
        const listener = await listen(own, [MESSAGES_ADDED], { onNotify: () => wake() });
        for (let reads = 0; reads < 4 && writing; reads++) {
          const news = new Promise<void>((resolve) => wake = resolve);
          if (await read(own.asTenant(tenant), randomInt(1, 300)) === 0 && writing) {
            await Promise.race([news, new Promise((resolve) => setTimeout(resolve, 50))]);
          }
        }
        await listener.close();
        await own.close();
      }
      return { seen, rest: () => read(store.asTenant(tenant), perTenant) };
    };
    const writers = Promise.all(Array.from({ length: WRITERS }, write)).then(() => writing = false);
    const followers = await Promise.all([writers, ...TENANTS.map(follow), follow(TENANTS[0]!)]);
    for (const { seen, rest } of followers.slice(1) as Awaited<ReturnType<typeof follow>>[]) {
      await rest();
      assert.deepEqual(seen, Array.from({ length: perTenant }, (_, i) => i + 1));
    }
  });
});
