import assert from "node:assert/strict";
import { hostname } from "node:os";
import { PLATFORM_TENANT } from "../../../contract/domain/mod.ts";
import { openGuard, readPolicy, type ValidateRequest } from "../../../judgement/guard/mod.ts";
import { type Db, openStore, type Store } from "../../../store/mod.ts";
import { setPolicy } from "../../../store/calls/mod.ts";
import { insertRows } from "../../_rows.ts";
import { type TestDatabase, testDatabase } from "../../_servers.ts";
import { asSuperuser } from "../../_superuser.ts";

const restart = (target: string): ValidateRequest => ({
  incident: `${target} does not answer`,
  action: { description: `Restart ${target}`, target, confidence: 0.9 },
});

describe("the guard's lookups", () => {
  let database: TestDatabase;
  let store: Store;
  before(async () => {
    database = await testDatabase();
    store = openStore(database.urls.engine, "engine");
    await insertRows(asSuperuser(store), "services", [
      { name: "Billing", origin: "file", host: "a" },
      { name: "orders", origin: "file", host: "a" },
      { name: "mail", origin: "file", host: "a" },
    ]);
  });
  after(async () => {
    await store?.close();
    await database?.drop();
  });

  /** A guard whose lookups pass through `before`. */
  function guardWith(before: () => void) {
    const db = store.asPlatform();
    const first = (async (...args: Parameters<Db["first"]>) => {
      before();
      return await db.first(...args);
    }) as Db["first"];
    return openGuard({ store: { ...store, asTenant: () => ({ ...db, first }) } });
  }

  it("are one statement for all requests of the same moment, and see later changes", async () => {
    let lookups = 0;
    const guard = guardWith(() => lookups++);
    const factsOf = async (target: string) =>
      (await guard.validate(restart(target), PLATFORM_TENANT)).rails[2]!.reasons.join();
    const facts = await Promise.all(
      Array.from({ length: 40 }, (_, n) => factsOf(n % 2 ? "billing" : `none-${n}`)),
    );
    assert.equal(lookups, 1);
    for (const [n, fact] of facts.entries()) {
      assert.match(fact, n % 2 ? /knows the target Billing/ : /does not know none-/);
    }
    await asSuperuser(store).execute("UPDATE services SET status = 'down' WHERE name = 'Billing'");
    assert.match(await factsOf("BILLING"), /Billing, last seen down/);
    assert.equal(lookups, 2);
  });

  it("know the machine that the platform runs on, for its own tenant alone", async () => {
    const { validate } = openGuard({ store });
    for (const name of [hostname(), "localhost"]) {
      const own = await validate(restart(name), PLATFORM_TENANT);
      assert.equal(own.decision, "allow", own.rails[2]!.reasons.join());
    }
    await insertRows(asSuperuser(store), "services", [
      { tenant_id: "acme", name: "shop", origin: "file", host: "b" },
    ]);
    const { decision, rails } = await validate(restart(hostname()), "acme");
    assert.equal(decision, "needs_approval");
    assert.match(rails[2]!.reasons.join(), /does not know/);
  });

  it("know the operator's change freezes that hold now, for every tenant", async () => {
    const db = asSuperuser(store);
    const { validate } = openGuard({ store });
    const reasonsFor = async (tenant: string) =>
      (await validate({ incident: "nginx answers 502" }, tenant)).rails[1]!.reasons.join();
    const freeze = (id: string, tenant: string, from: string, to: string) =>
      insertRows(db, "calendar_events", [{
        tenant_id: tenant,
        id,
        uid: id,
        title: `Frozen ${id}`,
        kind: "freeze",
        calendar: "main",
        starts_at: from,
        ends_at: to,
        time_zone: "UTC",
        location: "",
        attendees: [],
        services: "{}",
        busy: false,
        created_by: "key:test",
      }]).then(() =>
        insertRows(db, "calendar_occurrences", [{
          tenant_id: tenant,
          event_id: id,
          starts_at: from,
          ends_at: to,
          kind: "freeze",
          calendar: "main",
          busy: false,
        }])
      );
    const at = (hours: number) => new Date(Date.now() + hours * 3_600_000).toISOString();
    await freeze("EVT-past", PLATFORM_TENANT, at(-2), at(-1));
    await freeze("EVT-future", PLATFORM_TENANT, at(1), at(2));
    await freeze("EVT-foreign", "acme", at(-1), at(1));
    for (const tenant of [PLATFORM_TENANT, "acme"]) {
      assert.doesNotMatch(await reasonsFor(tenant), /frozen/);
    }

    const policy = { freezes: [{ from: at(-1), to: at(1), reason: "by policy" }] };
    await setPolicy(db, "guard_policies", readPolicy(policy));
    for (const tenant of [PLATFORM_TENANT, "acme"]) {
      assert.match(await reasonsFor(tenant), /Changes are frozen until [^ ]+Z: by policy/);
    }
    await freeze("EVT-now", PLATFORM_TENANT, at(-1), at(3));
    for (const tenant of [PLATFORM_TENANT, "acme"]) {
      assert.match(await reasonsFor(tenant), /frozen until [^ ]+Z by EVT-now: Frozen EVT-now/);
    }
    await setPolicy(db, "guard_policies", readPolicy({}));
    await db.execute("DELETE FROM calendar_occurrences");
  });

  it("count the repairs of the target within the last hour", async () => {
    const { validate } = openGuard({ store });
    const effect = (n: number, service: string) => ({
      id: `${service}-${n}`,
      service,
      ticket_id: "INC-1",
      action: {},
      action_sha256: "0",
      state: "done",
    });
    await insertRows(asSuperuser(store), "effects", [
      ...Array.from({ length: 5 }, (_, n) => effect(n, "orders")),
      effect(0, "mail"),
    ]);
    const [orders, mail] = await Promise.all([
      validate(restart("orders"), PLATFORM_TENANT),
      validate(restart("mail"), PLATFORM_TENANT),
    ]);
    assert.match(orders!.rails[1]!.reasons.join(), /repaired 5 times within the last hour/);
    assert.equal(orders!.decision, "needs_approval");
    assert.equal(mail!.decision, "allow");
  });

  it("fail for all waiting requests where the store can't be read, and work again later", async () => {
    let isAway = true;
    const { validate } = guardWith(() => {
      if (isAway) throw new Error("away");
    });
    const verdicts = await Promise.allSettled([
      validate(restart("mail"), PLATFORM_TENANT),
      validate(restart("mail"), PLATFORM_TENANT),
    ]);
    assert.deepEqual(verdicts.map(({ status }) => status), ["rejected", "rejected"]);
    isAway = false;
    assert.equal((await validate(restart("mail"), PLATFORM_TENANT)).decision, "allow");
  });
});
