import assert from "node:assert/strict";
import { insertRows } from "../_rows.ts";
import { openGlances } from "../../guard/_glance.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { type TestDatabase, testDatabase } from "../_servers.ts";

describe("openGlances()", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.app, "app");
  });
  after(async () => {
    await store?.close();
    await database?.drop();
  });

  const sought = (names: string[], ticketId?: string) => ({ names, target: names[0], ticketId });

  it("looks once for all that ask at the same moment, and again for who asks later", async () => {
    let looks = 0;
    const pool = {
      query: (...args: unknown[]) => {
        looks++;
        return (store.pool.query as (...args: unknown[]) => unknown)(...args);
      },
    } as Store["pool"];
    const glance = openGlances({ pool });
    await store.asPlatform().execute(
      "INSERT INTO services (name, origin, host) VALUES ('Billing', 'file', 'a')",
    );
    const seen = await Promise.all(
      Array.from({ length: 40 }, (_, n) => glance(sought([n % 2 ? "billing" : `none-${n}`]))),
    );
    assert.equal(looks, 1);
    assert.ok(seen.every(({ services }) => services.get("billing")?.[0]?.name === "Billing"));
    await store.asPlatform().execute("UPDATE services SET status = 'down' WHERE name = 'Billing'");
    const { services } = await glance(sought(["BILLING"]));
    assert.equal(services.get("billing")?.[0]?.status, "down");
    assert.equal(looks, 2);
  });

  it("counts repairs of the services that are asked about, and all", async () => {
    const glance = openGlances(store);
    const effect = (id: string, service: string) => ({
      ...{ id, service, ticket_id: "INC-1", action: {}, action_sha256: "0", state: "done" },
    });
    await insertRows(store.asPlatform(), "effects", [
      effect("1", "orders"),
      effect("2", "orders"),
      effect("3", "mail"),
    ]);
    const { repairs, allRepairs } = await glance(sought(["Orders"]));
    assert.deepEqual([repairs.get("orders"), repairs.get("mail"), allRepairs], [2, undefined, 3]);
  });

  it("fails everybody who waits where the store can't be read, and works again after that", async () => {
    let away = true;
    const pool = {
      query: (...args: unknown[]) => {
        if (away) return Promise.reject(new Error("away"));
        return (store.pool.query as (...args: unknown[]) => unknown)(...args);
      },
    } as Store["pool"];
    const glance = openGlances({ pool });
    const asked = await Promise.allSettled([glance(sought(["a"])), glance(sought(["b"]))]);
    assert.deepEqual(asked.map(({ status }) => status), ["rejected", "rejected"]);
    away = false;
    assert.equal((await glance(sought(["a"]))).policy, null);
  });
});
