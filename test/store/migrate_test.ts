import assert from "node:assert/strict";
import pg from "pg";
import { createDatabase } from "../../runtime/embedded/mod.ts";
import { migrate, openStore, SchemaTooNew, type Store } from "../../store/mod.ts";
import { testPostgres } from "../_servers.ts";

describe("migrate()", () => {
  const name = "test_migrate";
  let superuser: pg.Client;
  let stores: Store[];
  before(async () => {
    const { superuserUrl, urls } = await testPostgres();
    superuser = new pg.Client({ connectionString: superuserUrl });
    await superuser.connect();
    await createDatabase(superuser, name);
    const url = Object.assign(new URL(urls.owner), { pathname: name }).href;
    stores = [openStore(url, "owner"), openStore(url, "owner")];
  });
  after(async () => {
    await Promise.all(stores.map((store) => store.close()));
    await superuser.query(`DROP DATABASE ${name} WITH (FORCE)`);
    await superuser.end();
  });

  it("runs each migration once, where two processes begin at once", async () => {
    const [some = [], others = []] = await Promise.all(stores.map(migrate));
    const ran = await stores[0]!.asPlatform().query("SELECT name FROM migrations ORDER BY id");
    assert.ok(ran.length > 0);
    assert.deepEqual([...some, ...others], ran.map((row) => row.name));
    assert.deepEqual(await migrate(stores[0]!), []);
  });

  it("changes nothing where a newer version has been, and refuses a schema that it can't work with", async () => {
    const [owner] = stores as [Store];
    const db = owner.asPlatform();
    await db.execute("INSERT INTO migrations (name, batch) VALUES ('9998_small', 99)");
    await db.execute("GRANT UPDATE ON migrations TO sealoop_engine"); // a right of the newer version
    assert.deepEqual(await migrate(owner), []);
    const [kept] = await db.query(
      "SELECT has_table_privilege('sealoop_engine', 'migrations', 'UPDATE') AS kept",
    );
    assert.deepEqual(kept, { kept: true });
    await db.execute(
      `CREATE OR REPLACE FUNCTION oldest_process() RETURNS text LANGUAGE sql AS $$ SELECT '9999_large' $$`,
    );
    await assert.rejects(migrate(owner), SchemaTooNew);
  });

  it("leaves the question marks of SQL alone", async () => {
    const days = await stores[0]!.asPlatform().query(
      `SELECT day_of(era, convert_to(record, 'UTF8')) AS day FROM (VALUES
         (1::smallint, '{"timestamp":"2024-02-03T04:05:06Z","id":"a"}'),
         (2::smallint, '{"timestamp": "2025-02-03T04:05:06Z","id":"b"}'),
         (3::smallint, '{"id":"c","timestamp":"2026-02-03T04:05:06.123456+00:00"}'),
         (1::smallint, '{"id":"d"}')) AS r (era, record)`,
    );
    assert.deepEqual(days.map((row) => row.day), ["2024-02-03", "2025-02-03", "2026-02-03", ""]);
  });
});
