import assert from "node:assert/strict";
import pg from "pg";
import { PLATFORM_TENANT, SHARED_TENANT } from "../../contract/domain/mod.ts";
import { inTenant, openStore, type Role, ROLES, type Store } from "../../store/mod.ts";
import { type NewTicket, openTicket } from "../../store/incidents/mod.ts";
import { storeAs, type TestDatabase, testDatabase } from "../_servers.ts";

/** Tables that no tenant owns. A table that is neither here nor walled off fails the tests. */
const NOBODYS = new Set([
  "anchor_head",
  "anchors",
  "flags",
  "gateway_watch",
  "governance_policies",
  "governance_stops",
  "guard_policies",
  "integration_health",
  "ledger_breaks",
  "ledger_categories",
  "ledger_days",
  "ledger_head",
  "ledger_import",
  "ledger_import_receipts",
  "ledger_keys",
  "ledger_recovery",
  "ledger_scrub",
  "ledger_trouble",
  "log_checkpoint",
  "log_publishing",
  "log_tiles",
  "migrations",
  "migrations_lock",
  "receipts",
  "receipt_names",
  "platform_secrets",
  "processes",
  "runbook_commands",
  "runbooks",
  "scripts",
  "seal_outbox",
  "seal_refusals",
  "seal_categories",
  "seal_requests",
  "settings_files",
  "config_versions",
  "shared_secrets",
  "places",
  "shield_policies",
  "span_export",
  "model_policies",
  "people_policies",
  "provider_sign_ins",
  "usage",
]);
/** Tables whose shared rows every tenant may read. */
const SHARED = new Set(["knowledge", "knowledge_terms", "knowledge_words"]);
/** Unique without the tenant: what is found before its tenant is known, or has a number of its own. */
const UNIQUE_ACROSS: Readonly<Record<string, readonly string[]>> = {
  devices: ["id"],
  keys: ["id", "key_hash"],
  knowledge: ["nr"],
  passkeys: ["credential_id"],
  sessions: ["id", "token_hash"],
  sign_in_links: ["id", "token_hash"],
  tenant_tokens: ["id", "token_hash"],
  tenants: ["alias", "id"],
};

interface Table {
  readonly name: string;
  readonly isForced: boolean;
  readonly policies: readonly { readonly name: string; readonly roles: readonly string[] }[];
  /** First columns of the unique indexes. */
  readonly keys: readonly string[];
  /** Tables that a foreign key of one column refers to. */
  readonly openReferences: readonly string[];
}

describe("row-level security", () => {
  let database: TestDatabase;
  let superuser: pg.Client;
  let store: Store;
  let owned: Table[];
  let names: string[];

  before(async () => {
    database = await testDatabase();
    superuser = new pg.Client({ connectionString: database.superuserUrl });
    await superuser.connect();
    store = openStore(database.urls.worker, "worker", 4);
    const { rows } = await superuser.query(TABLES);
    names = rows.map(({ table }) => table.name);
    owned = rows.map(({ table }) => table).filter(({ name }) => !NOBODYS.has(name));
  });
  after(async () => {
    await store.close();
    await superuser.end();
    await database.drop();
  });

  /** Adds a row of a tenant with made-up values to every owned table, as superuser. */
  async function fillAll(tenant: string): Promise<void> {
    await superuser.query("SET session_replication_role = replica"); // no foreign keys
    for (const { name } of owned) {
      const { rows: checks } = await superuser.query(CHECKS, [name]);
      for (const { check } of checks) {
        await superuser.query(`ALTER TABLE ${name} DROP CONSTRAINT ${check}`);
      }
      const { rows } = await superuser.query(REQUIRED_COLUMNS, [name]);
      const own = name === "tenants" ? "id" : "tenant_id";
      const columns = rows.filter(({ column }) => column !== own);
      await superuser.query(
        `INSERT INTO ${name} (${[own, ...columns.map(({ column }) => column)].join(", ")})
         VALUES (${[`'${tenant}'`, ...columns.map(({ value }) => value)].join(", ")})`,
      );
    }
    await superuser.query("SET session_replication_role = DEFAULT");
  }

  it("is on and forced for every table that is not nobody's", () => {
    assert.ok(owned.length > 25);
    for (const { name, isForced, policies } of owned) {
      assert.ok(isForced, `${name} is open: wall it off, or list it as nobody's`);
      const open = policies.filter(({ roles }) => !roles.includes("sealoop_crossing"));
      const expected = SHARED.has(name) ? ["everyone", "tenant"] : ["tenant"];
      assert.deepEqual(open.map((policy) => policy.name).sort(), expected, name);
    }
    const gone = [...NOBODYS].filter((name) => !names.includes(name));
    assert.deepEqual(gone, []);
  });

  it("has the tenant at the head of every unique index, and in every reference", () => {
    for (const { name, keys, openReferences } of owned) {
      const others = keys.filter((column) => column !== "tenant_id");
      assert.deepEqual(others.sort(), UNIQUE_ACROSS[name] ?? [], name);
      assert.deepEqual(openReferences, name === "keys" ? ["tenants"] : [], name);
    }
  });

  it("changes and deletes no row of another tenant, and adds none in its name", async () => {
    const ticket: NewTicket = {
      id: "INC-1",
      title: "t",
      description: "",
      severity: "high",
      phase: "ticketed",
      service: null,
      fingerprint: null,
      workflowId: null,
      runId: null,
      requestedBy: "key:1",
    };
    const [acme, rival] = [store.asTenant("acme"), store.asTenant("rival")];
    await openTicket(acme, ticket);
    assert.equal(await rival.execute("UPDATE tickets SET title = 'mine'"), 0);
    const owner = await storeAs(store, "owner"); // no other role may delete tickets at all
    assert.equal(await owner.asTenant("rival").execute("DELETE FROM tickets"), 0);
    assert.ok(await openTicket(rival, ticket), "ids of other tenants are not taken");
    for (
      const forge of [
        "INSERT INTO call_effects (tenant_id, decision_id, ids) VALUES ('acme', 'x', '{}')",
        "UPDATE tickets SET tenant_id = 'acme', id = 'INC-2'",
      ]
    ) {
      await assert.rejects(rival.execute(forge), /row-level security/);
    }
    const unset = "INSERT INTO call_effects (decision_id, ids) VALUES ('x', '{}')";
    await assert.rejects(store.pool.query(unset), /null value|row-level security/);
    assert.equal((await acme.first("SELECT title FROM tickets WHERE id = 'INC-1'"))!.title, "t");
  });

  it("keeps nothing of a tenant on a connection", async () => {
    const one = openStore(database.urls.worker, "worker", 1);
    const setting = "SELECT nullif(current_setting('sealoop.tenant', true), '') AS tenant";
    const acme = one.asTenant("acme");
    const assertUnset = async () => {
      assert.equal((await one.pool.query(setting)).rows[0].tenant, null);
    };
    assert.deepEqual(await acme.first(setting), { tenant: "acme" });
    await assertUnset();
    await acme.transaction(async (trx) => {
      await inTenant(trx, "rival", async (other) => {
        assert.deepEqual(await other.first(setting), { tenant: "rival" });
      });
      assert.deepEqual(await trx.first(setting), { tenant: "acme" });
    });
    await assertUnset();
    await assert.rejects(acme.first("SELECT 1 / 0"), /division/);
    await assertUnset();
    await assert.rejects(acme.transaction((trx) => trx.first("SELECT 1 / 0")), /division/);
    await assertUnset();
    await one.close();
  });

  it("holds over shared connections, with a thousand statements of many tenants at once", async () => {
    const tenants = Array.from({ length: 20 }, (_, n) => `tenant "${n}'`);
    const add = "INSERT INTO call_effects (decision_id, ids) VALUES ($1, '{}')";
    await Promise.all(tenants.map((tenant) => store.asTenant(tenant).execute(add, [tenant])));
    const read = "SELECT tenant_id, decision_id FROM call_effects";
    const wrong = await Promise.all(Array.from({ length: 1_000 }, async (_, n) => {
      const tenant = tenants[n % tenants.length]!;
      const db = store.asTenant(tenant);
      const rows = n % 3 ? await db.query(read) : await db.transaction((trx) => trx.query(read));
      const isOwn = rows[0]?.tenant_id === tenant && rows[0]?.decision_id === tenant;
      return rows.length === 1 && isOwn ? [] : [n];
    }));
    assert.deepEqual(wrong.flat(), []);
  });

  it("lets every tenant read what is shared, and none write it", async () => {
    const add = "INSERT INTO knowledge_words (word, passages) VALUES ($1, 1)";
    await store.asTenant(SHARED_TENANT).execute(add, ["shared"]);
    await store.asTenant("acme").execute(add, ["private"]);
    const rival = store.asTenant("rival");
    const words = await rival.query("SELECT word FROM knowledge_words");
    assert.deepEqual(words, [{ word: "shared" }]);
    assert.equal(await rival.execute("UPDATE knowledge_words SET passages = 9"), 0);
    assert.equal(await rival.execute("DELETE FROM knowledge_words"), 0);
  });

  it("begins with the tenants that the code names", async () => {
    const { rows } = await superuser.query("SELECT id FROM tenants ORDER BY id");
    assert.deepEqual(rows.map(({ id }) => id), [SHARED_TENANT, PLATFORM_TENANT]);
  });

  it("shows rows to their tenant alone, and none where no tenant is set, to every role", async () => {
    await fillAll("globex");
    await superuser.query(COUNT_VISIBLE);
    const statements = owned.map(({ name }) => {
      const own = name === "tenants" ? "id" : "tenant_id";
      return `SELECT count(*) FROM ${name} WHERE ${own} = 'globex'`;
    });
    const sql = `SELECT name, visible.count_rows(sql) AS n
      FROM unnest($1::text[], $2::text[]) AS each (name, sql)`;
    const values = [owned.map(({ name }) => name), statements];
    type Count = { readonly name: string; readonly n: number | null };
    await Promise.all((Object.keys(ROLES) as Role[]).map(async (role) => {
      const other = openStore(database.urls[role], role, 1);
      const others = [
        await other.asTenant("rival").query<Count>(sql, values),
        await other.asTenant("").query<Count>(sql, values),
        (await other.pool.query<Count>(sql, values)).rows,
      ];
      for (const rows of others) {
        assert.equal(rows.length, owned.length);
        const open = rows.filter(({ n }) => n !== 0 && n !== null).map(({ name }) => name);
        assert.deepEqual(open, [], `${role} sees rows`);
      }
      if (role === "worker") {
        for (const { name, n } of await other.asTenant("globex").query<Count>(sql, values)) {
          assert.equal(n ?? 1, 1, name);
        }
      }
      await other.close();
    }));
  });
});

/** Counts rows as the caller sees them; null where it may not read the table. */
const COUNT_VISIBLE = `
  CREATE SCHEMA visible;
  GRANT USAGE ON SCHEMA visible TO PUBLIC;
  CREATE FUNCTION visible.count_rows(sql text) RETURNS int LANGUAGE plpgsql AS $$
  DECLARE n int;
  BEGIN
    EXECUTE sql INTO n;
    RETURN n;
  EXCEPTION WHEN insufficient_privilege THEN
    IF SQLERRM ~ 'permission denied' THEN RETURN NULL; END IF;
    RAISE;
  END $$`;

const TABLES = `
  SELECT json_build_object('name', c.relname, 'isForced', c.relrowsecurity AND c.relforcerowsecurity,
    'policies', ARRAY(SELECT json_build_object('name', polname, 'roles', ARRAY(
      SELECT rolname FROM pg_roles r WHERE r.oid = ANY (polroles))) FROM pg_policy WHERE polrelid = c.oid),
    'keys', ARRAY(SELECT DISTINCT a.attname FROM pg_index i
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum = i.indkey[0]
      WHERE i.indrelid = c.oid AND i.indisunique),
    'openReferences', ARRAY(SELECT confrelid::regclass::text FROM pg_constraint f
      WHERE f.conrelid = c.oid AND f.contype = 'f' AND cardinality(f.conkey) = 1)) AS table
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
  WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') ORDER BY c.relname`;

const REQUIRED_COLUMNS = `
  SELECT column_name AS column, CASE
    WHEN data_type IN ('jsonb', 'json', 'ARRAY') THEN '''{}'''
    WHEN data_type = 'bytea' THEN '''x''::bytea'
    WHEN data_type LIKE 'timestamp%' OR data_type = 'date' THEN 'now()'
    WHEN data_type = 'boolean' THEN 'false'
    WHEN data_type IN ('integer', 'bigint', 'smallint', 'double precision', 'real') THEN '1'
    ELSE '''x''' END AS value
  FROM information_schema.columns
  WHERE table_name = $1 AND table_schema = 'public' AND is_nullable = 'NO' AND column_default IS NULL
    AND is_identity = 'NO'`;

const CHECKS =
  "SELECT conname AS check FROM pg_constraint WHERE conrelid = $1::regclass AND contype = 'c'";
