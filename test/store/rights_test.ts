import assert from "node:assert/strict";
import pg from "pg";
import { FUNCTION_OWNERS, migrate, openStore, type Role, ROLES } from "../../store/mod.ts";
import { FUNCTIONS, type Grant, type Grantee, RIGHTS } from "../../store/rights/mod.ts";
import { storeAs, type TestDatabase, testDatabase } from "../_servers.ts";
import { asSuperuser } from "../_superuser.ts";

const { owner: _, ...OTHERS } = ROLES;
const LOGINS = Object.keys(OTHERS) as Exclude<Role, "owner">[];
const NAMES: Readonly<Record<Grantee, string>> = { ...OTHERS, ...FUNCTION_OWNERS };
const GRANTEES = Object.keys(NAMES) as Grantee[];
const INSUFFICIENT_PRIVILEGE = "42501";
/** Tries a statement with the rights of the caller, and undoes it. Thousands of statements take one call of the server. */
const IS_PERMITTED = `
  CREATE SCHEMA attempts;
  GRANT USAGE ON SCHEMA attempts TO PUBLIC;
  CREATE FUNCTION attempts.is_permitted(sql text) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    EXECUTE sql;
    RAISE SQLSTATE 'UNDO1';
  EXCEPTION
    WHEN insufficient_privilege THEN RETURN false;
    WHEN SQLSTATE 'UNDO1' THEN RETURN true;
    WHEN OTHERS THEN -- refused by a trigger, after the right was checked
      IF SQLERRM ~ 'append-only|foreign key constraint' THEN RETURN true; END IF;
      RAISE;
  END $$`;

/** A table, with the names of its columns. */
interface Table {
  readonly name: string;
  readonly isSequence: boolean;
  readonly columns: readonly string[];
}

/** A statement of a role. */
interface Attempt {
  readonly what: string;
  readonly sql: string;
  readonly isAllowed: boolean;
}

describe("the rights of each role", () => {
  let database: TestDatabase;
  let tables: Table[];
  before(async () => {
    database = await testDatabase();
    const owner = openStore(database.urls.owner, "owner", 1);
    await migrate(owner); // as at a second start, which leaves them as they are
    await owner.close();
    await database.executeAsSuperuser(IS_PERMITTED);
    tables = await asSuperuser({ url: database.superuserUrl }).query<{
      name: string;
      isSequence: boolean;
      columns: string[];
    }>(
      `SELECT c.relname AS name, c.relkind = 'S' AS "isSequence",
         array_agg(a.attname::text ORDER BY a.attnum) AS columns
       FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
       WHERE c.relkind IN ('r', 'p', 'v', 'm', 'S') AND c.relnamespace = 'public'::regnamespace
       GROUP BY 1, 2 ORDER BY 1`,
    );
  });
  after(() => database?.drop());

  it("are written down for every table", () => {
    const isWritten = ({ name, isSequence }: Table) => !isSequence || name in RIGHTS;
    assert.deepEqual(tables.filter(isWritten).map(({ name }) => name), Object.keys(RIGHTS).sort());
  });

  for (const role of GRANTEES) {
    it(`are, for ${NAMES[role]}, exactly the written ones, on every column of every table`, async () => {
      const attempts = tables.flatMap((table) => listAttempts(role, table));
      const client = await connectAs(role);
      try {
        const { rows } = await client.query(
          "SELECT attempts.is_permitted(sql) AS permitted FROM unnest($1::text[]) AS sql",
          [attempts.map(({ sql }) => sql)],
        );
        assert.equal(rows.length, attempts.length);
        const differences = attempts.filter(({ isAllowed }, n) => rows[n].permitted !== isAllowed);
        assert.deepEqual(
          differences.map(({ what, isAllowed }) =>
            `${what} is ${isAllowed ? "refused" : "allowed"}`
          ),
          [],
        );
      } finally {
        await client.end();
      }
    });
  }

  /** Connects as a role. Nobody can log in as one that owns functions, so the superuser becomes it. */
  async function connectAs(role: Grantee): Promise<pg.Client> {
    const isOwner = role in FUNCTION_OWNERS;
    const connectionString = isOwner ? database.superuserUrl : database.urls[role as Role];
    const client = new pg.Client({ connectionString });
    await client.connect();
    if (isOwner) await client.query(`SET ROLE ${NAMES[role]}`);
    return client;
  }

  it("let nobody call a function that runs with other rights, unless that is written down", async () => {
    const functions = await asSuperuser({ url: database.superuserUrl }).query<{
      name: string;
      owner: string;
      definer: boolean;
      isSafe: boolean;
      callers: string[];
    }>(
      `SELECT p.proname AS name, pg_get_userbyid(proowner)::text AS owner, prosecdef AS definer,
         coalesce('search_path=public, pg_temp' = ANY (proconfig), false) AS "isSafe",
         ARRAY(SELECT r.rolname::text FROM pg_roles r WHERE r.rolname = ANY ($1)
           AND has_function_privilege(r.oid, p.oid, 'EXECUTE')) AS callers
       FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
         AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')`,
      [Object.values(NAMES)],
    );
    for (const { name, owner, definer, isSafe, callers } of functions) {
      const rights = FUNCTIONS[name];
      if (definer) {
        assert.ok(rights && isSafe, `${name} is not written down, or has no search_path`);
      }
      if (!rights) continue;
      const names = new Set(rights.callers.map((role) => NAMES[role]));
      if (rights.runsAs) {
        assert.equal(owner, NAMES[rights.runsAs], name);
        names.add(owner); // may call what it owns
      }
      assert.deepEqual(callers.sort(), [...names].sort(), name);
    }
    const known = functions.map(({ name }) => name);
    assert.deepEqual(Object.keys(FUNCTIONS).filter((name) => !known.includes(name)), []);
  });

  it("can't be widened from within a connection", async () => {
    await Promise.all(LOGINS.map(async (role) => {
      const db = (await storeAs({ url: database.urls[role] }, role)).asPlatform();
      const others = [...Object.values(ROLES), ...Object.values(FUNCTION_OWNERS), "postgres"];
      for (const other of others.filter((name) => name !== ROLES[role])) {
        const denied = { code: INSUFFICIENT_PRIVILEGE };
        await assert.rejects(db.query(`SET ROLE ${other}`), denied);
        await assert.rejects(db.query(`SET SESSION AUTHORIZATION ${other}`), denied);
        await assert.rejects(db.query(`GRANT ${other} TO ${ROLES[role]}`), denied);
      }
      for (const sql of ["CREATE TABLE mine (n int)", "CREATE ROLE more", "CREATE SCHEMA mine"]) {
        await assert.rejects(db.query(sql), { code: INSUFFICIENT_PRIVILEGE });
      }
    }));
  });
});

/** Lists a statement for every privilege on a table, with whether the written rights allow it. */
function listAttempts(role: Grantee, { name, isSequence, columns }: Table): Attempt[] {
  const rights = rightsOf(RIGHTS[name] ?? [], role);
  const attempts: Attempt[] = [];
  const attempt = (what: string, sql: string, isAllowed: boolean) =>
    attempts.push({ what: `${name}: ${what}`, sql, isAllowed });
  const statements = {
    SELECT: (column: string) => `SELECT ${column} FROM ${name} WHERE false`,
    INSERT: (column: string) =>
      `INSERT INTO ${name} (${column}) OVERRIDING SYSTEM VALUE SELECT NULL WHERE false`,
    UPDATE: (column: string) => `UPDATE ${name} SET ${column} = DEFAULT WHERE false`,
  };
  for (const [privilege, write] of Object.entries(statements)) {
    if (isSequence && privilege !== "SELECT") continue; // no statement writes it
    for (const column of columns) {
      const isAllowed = rights.has(privilege) || rights.has(`${privilege} ${column}`);
      attempt(`${privilege} ${column}`, write(pg.escapeIdentifier(column)), isAllowed);
    }
  }
  if (isSequence) return attempts;
  attempt("DELETE", `DELETE FROM ${name} WHERE false`, rights.has("DELETE"));
  attempt("TRUNCATE", `TRUNCATE ${name}`, rights.has("TRUNCATE"));
  return attempts;
}

/** Returns `SELECT`, or `SELECT column` where a role has a right on some columns alone. */
function rightsOf(grants: readonly Grant[], role: Grantee): Set<string> {
  const rights = new Set<string>();
  for (const [privileges, ...grantees] of grants) {
    if (!grantees.includes(role)) continue;
    for (const [, privilege, columns] of privileges.matchAll(/([A-Z]+)(?: \(([^)]*)\))?/g)) {
      if (columns === undefined) rights.add(privilege!);
      else for (const column of columns.split(", ")) rights.add(`${privilege} ${column}`);
    }
  }
  return rights;
}
