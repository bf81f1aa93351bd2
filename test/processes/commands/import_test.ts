import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { ROOT } from "../../../config.ts";
import { getHead } from "../../../ledger/mod.ts";
import { openStore, type Store } from "../../../store/mod.ts";
import { program } from "../../_programs.ts";
import { testFolder } from "../../_run.ts";
import { type TestDatabase, testDatabase } from "../../_servers.ts";
import { eventually } from "../../_time.ts";
import { unsignedChain } from "../../ledger/_chains.ts";

const COUNT = 12_000;
/** Any number. */
const LOCK = 4_711;

describe("npm run ledger -- import", () => {
  let database: TestDatabase;
  let store: Store;
  let file: string;
  let importer: string;

  before(async () => {
    importer = await program("processes/ledger.ts");
    database = await testDatabase();
    store = openStore(database.urls.sequencer, "sequencer");
    file = join(await testFolder(), "ledger.ndjson");
    writeFileSync(file, unsignedChain(COUNT).join("\n"));
  });
  after(async () => {
    await store.close();
    await database.drop();
  });

  /** Runs the command as npm does. */
  function start(...args: readonly string[]) {
    const child = spawn(process.execPath, [importer, "import", ...args], {
      cwd: ROOT,
      env: {
        ...process.env,
        DATABASE_URL: database.urls.owner,
        SEALOOP_DATABASE_SEQUENCER_URL: database.urls.sequencer,
      },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let text = "";
    child.stdout.on("data", (chunk) => text += chunk);
    child.stderr.on("data", (chunk) => text += chunk);
    const ended = once(child, "close").then(([status]) => ({ status, text }));
    return { child, ended };
  }

  const putAside = async () => {
    const { rows } = await store.pool.query(
      "SELECT count(*)::int AS n FROM ledger_import_receipts",
    );
    return rows[0].n as number;
  };

  /** Lets no import put more receipts aside than so many, until it is released. */
  async function holdBeyond(position: number) {
    const client = new pg.Client({ connectionString: database.superuserUrl });
    await client.connect();
    await client.query(`SELECT pg_advisory_lock(${LOCK});
      CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF NEW.position >= ${position} THEN PERFORM pg_advisory_xact_lock(${LOCK}); END IF;
        RETURN NEW;
      END $$;
      CREATE TRIGGER hold BEFORE INSERT ON ledger_import_receipts
        FOR EACH ROW EXECUTE FUNCTION hold()`);
    const waiting = `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
      AND objid = ${LOCK} AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
    return {
      reached: () => eventually(async () => (await client.query(waiting)).rows[0]),
      async release() {
        await client.query(`SELECT pg_terminate_backend(pid, 10000) FROM (${waiting}) AS w`);
        await client.query("DROP TRIGGER hold ON ledger_import_receipts; DROP FUNCTION hold");
        await client.end();
      },
    };
  }

  it("goes on where it was killed, and then has all of them", async () => {
    const held = await holdBeyond(COUNT / 2);
    const killed = start(file);
    await Promise.race([held.reached(), killed.ended.then(({ text }) => assert.fail(text))]);
    killed.child.kill("SIGKILL");
    await killed.ended;
    await held.release();
    // PostgreSQL notices a moment later that the importer's other connections are gone.
    await eventually(async () => {
      const { rows } = await store.pool.query(
        `SELECT FROM pg_locks WHERE locktype = 'advisory'
           AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
      );
      return rows.length === 0 || undefined;
    });
    const before = await putAside();
    assert.ok(before > 0 && before < COUNT, `${before} were put aside`);
    assert.equal((await getHead(store)).size, 0);

    const { status, text } = await start(file).ended;
    assert.equal(status, 0, text);
    assert.match(text, new RegExp(`Imported ${COUNT} receipts`));
    assert.doesNotMatch(text, /verified/, "which was done");
    assert.equal((await getHead(store)).size, COUNT);
    assert.equal(await putAside(), 0);
  });

  it("makes no database for a file that is not there", async () => {
    const data = await testFolder();
    const args = [importer, "import", join(data, "gone")];
    const env = { PATH: process.env.PATH, SEALOOP_DATA: data };
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, env });
    assert.equal(status, 1);
    assert.match(String(stderr), /Nothing was imported: There is no file \S+gone$/m);
    assert.deepEqual(readdirSync(data), []);
  });

  it("says so where it was done before, and where it can't be", async () => {
    const other = join(ROOT, "test", "vectors", "mixed-era-chain.json");
    const [again, filled, none] = await Promise.all([
      start(file).ended,
      start(other).ended,
      start("/nonexistent").ended,
    ]);
    assert.deepEqual([again.status, filled.status, none.status], [0, 1, 1]);
    assert.match(again.text, /were imported before/);
    assert.match(filled.text, /^Nothing was imported: (The ledger has|Another import)/m);
    assert.match(none.text, /^Nothing was imported: There is no file \/nonexistent$/m);
  });
});
