import assert from "node:assert/strict";
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import pg from "pg";
import { isRunning, type Postgres, startPostgres } from "../../../runtime/embedded/mod.ts";
import { freePort, testFolder } from "../../_run.ts";
import { testPostgres } from "../../_servers.ts";

describe("startPostgres()", () => {
  it("runs PostgreSQL 18 with fsync, on loopback alone", async () => {
    const server = await startPostgres(await testFolder(), await freePort()); // that of the tests has no fsync
    await withServer(server, async ({ superuserUrl, version }) => {
      assert.match(version, /^18\.\d+$/);
      const settings = ["fsync", "synchronous_commit", "full_page_writes", "listen_addresses"];
      const { rows: [row] } = await query(
        superuserUrl,
        `SELECT ${settings.map((name) => `current_setting('${name}') AS ${name}`).join(", ")}`,
      );
      assert.deepEqual(row, {
        fsync: "on",
        synchronous_commit: "on",
        full_page_writes: "on",
        listen_addresses: "127.0.0.1",
      });
    });
  });

  it("gives each role its own password, and no role rights over the server", async () => {
    const { urls, superuserUrl } = await testPostgres();
    const passwords = Object.values(urls).map((url) => new URL(url).password);
    assert.equal(new Set(passwords).size, Object.keys(urls).length);
    const { rows } = await query(
      superuserUrl,
      "SELECT bool_or(rolsuper OR rolcreaterole OR rolcreatedb OR rolreplication) AS any FROM pg_roles " +
        "WHERE rolname LIKE 'sealoop%'",
    );
    assert.deepEqual(rows, [{ any: false }]);
  });

  it("refuses a wrong password", async () => {
    const { urls } = await testPostgres();
    const wrong = Object.assign(new URL(urls.worker), { password: "wrong" }).href;
    await assert.rejects(query(wrong, "SELECT"), { code: "28P01" });
  });

  it("stops the server that a killed process left on the same data, and continues with it", async () => {
    const dataDir = await testFolder();
    const left = await startPostgres(dataDir, await freePort());
    await query(left.urls.owner, "CREATE TABLE kept AS SELECT 1 AS one");
    await withServer(await startPostgres(dataDir, await freePort()), async (server) => {
      assert.equal(isRunning(left.process), false);
      assert.deepEqual((await query(server.urls.owner, "SELECT * FROM kept")).rows, [{ one: 1 }]);
    });
  });

  it("starts despite a pid file that names another process", async () => {
    const dataDir = await testFolder();
    await withServer(await startPostgres(dataDir, await freePort()), async () => {});
    writeFileSync(join(dataDir, "postgres", "postmaster.pid"), `${process.pid}\n`);
    await withServer(await startPostgres(dataDir, await freePort()), async () => {});
  });

  it("starts despite the remains of a killed first start", async () => {
    const dataDir = await testFolder();
    mkdirSync(join(dataDir, "postgres.new-1", "data"), { recursive: true });
    await withServer(await startPostgres(dataDir, await freePort()), async () => {
      assert.deepEqual(readdirSync(dataDir).sort(), ["logs", "postgres", "postgres.json"]);
      assert.equal(statSync(join(dataDir, "postgres.json")).mode & 0o777, 0o600);
    });
  });

  it("reports that the passwords of its data are missing", async () => {
    const dataDir = await testFolder();
    await withServer(await startPostgres(dataDir, await freePort()), async () => {});
    rmSync(join(dataDir, "postgres.json"));
    await assert.rejects(startPostgres(dataDir, await freePort()), /postgres\.json is missing/);
  });

  it("reports the server's own reason when it can't start", async () => {
    const { port } = await testPostgres();
    const dataDir = await testFolder();
    await assert.rejects(startPostgres(dataDir, port), /: could not bind .*in use$/);
  });

  it("runs for root below open and closed folders, and when that changes", async function () {
    if (process.getuid?.() !== 0) return this.skip();
    const folder = await testFolder();
    const dataDir = join(folder, "data");
    mkdirSync(dataDir, { mode: 0o711 });
    const start = async () => {
      const server = await startPostgres(dataDir, await freePort());
      await withServer(server, async ({ urls }) => {
        await query(urls.owner, "CREATE TABLE IF NOT EXISTS kept (one integer)");
      });
      return lstatSync(join(dataDir, "postgres")).uid;
    };
    chmodSync(folder, 0o755);
    const open = await start();
    chmodSync(folder, 0o700);
    assert.equal(await start(), 0, "below a closed folder the data belongs to root");
    chmodSync(folder, 0o755);
    assert.ok([0, open].includes(await start()));
  });
});

async function query(connectionString: string, sql: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString });
  await client.connect();
  try {
    return await client.query(sql);
  } finally {
    await client.end();
  }
}

/** Stops a server after its use, however that ended. */
async function withServer(
  server: Postgres,
  use: (server: Postgres) => Promise<void>,
): Promise<void> {
  try {
    await use(server);
  } finally {
    await server.stop();
  }
}
