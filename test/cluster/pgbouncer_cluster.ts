/** Twenty processes with small pools behind PgBouncer in session mode, on sixty connections of the server. */
import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { openStore, type Store } from "../../store/mod.ts";
import type { Name } from "../processes/_process.ts";
import { type PgBouncer, startPgBouncer, unpackPgBouncer } from "../remote/_pgbouncer.ts";
import { skipSuite } from "../remote/_skip.ts";
import { testFolder } from "../_run.ts";
import { emptyDatabase, type TestDatabase, testTemporal } from "../_servers.ts";
import { figures } from "./_figures.ts";
import { startLoad } from "./_load.ts";
import { addMember, type Member, setUp, sharedSettings } from "./_platform.ts";

const COUNTS: Readonly<Partial<Record<Name, number>>> = {
  engine: 3,
  gateway: 5,
  ledger: 2,
  mcp: 5,
  sequencer: 1,
  worker: 4,
};
const SERVER_CONNECTIONS = 60;
const STARTED_AT_ONCE = 4;
/** Connections around PgBouncer at most: one a process, and all that the sequencer has. */
const DIRECT = 19 + 8;
const CALLS = Number(process.env.CALLS ?? 40);
const LOAD_MS = 20_000;

describe("twenty processes behind PgBouncer in session mode", function () {
  this.timeout(900_000);
  let database: TestDatabase;
  let pooler: PgBouncer;
  let store: Store;
  let key: string;
  const members: Member[] = [];

  before(async function () {
    const folder = await testFolder();
    const missing = await unpackPgBouncer("1.18", folder);
    if (missing !== undefined) return skipSuite(this, missing);
    database = await emptyDatabase();
    pooler = await startPgBouncer(folder, database, {
      version: "1.18",
      mode: "session",
      size: SERVER_CONNECTIONS,
    });
    const temporal = await testTemporal();
    const direct = Object.entries(database.urls).map(([role, url]) =>
      [`SEALOOP_DATABASE_${role.toUpperCase()}_DIRECT_URL`, url] as const
    ).filter(([name]) => !/OWNER|OPERATOR/.test(name));
    const settings = { ...sharedSettings(), SEALOOP_DB_POOL: "3", SEALOOP_PLACE: "n1.example.net" };
    key = await setUp({ database, temporal, settings });
    const cluster = {
      database: pooler,
      temporal,
      settings: { ...settings, ...Object.fromEntries(direct), SEALOOP_ENGINE_URL: "" },
    };
    const shared = await testFolder();
    for (const [name, count] of Object.entries(COUNTS) as [Name, number][]) {
      for (let n = 0; n < count; n++) {
        const member = await addMember(name, cluster, name === "worker" ? shared : undefined);
        members.push(member);
        if (name === "engine") {
          cluster.settings.SEALOOP_ENGINE_URL ||= `http://127.0.0.1:${member.port}`;
        }
      }
    }
    for (let at = 0; at < members.length; at += STARTED_AT_ONCE) {
      await Promise.all(members.slice(at, at + STARTED_AT_ONCE).map((member) => member.start()));
    }
    store = openStore(database.urls.worker, "worker", 1);
  });
  after(async () => {
    await Promise.all(members.map((member) => member.kill()));
    await store?.close();
    await pooler?.stop();
    await database?.drop();
  });

  it("work, and take no more connections than they are given", async () => {
    const loads = members.filter(({ name }) => name === "gateway").map(({ port }, _, { length }) =>
      startLoad({ gateway: `http://127.0.0.1:${port}`, key }, {
        callsPerSecond: CALLS / length,
        loops: 1,
      })
    );
    let most = 0;
    for (const endMs = performance.now() + LOAD_MS; performance.now() < endMs;) {
      const [row] = await store.db.query<{ count: number }>(
        "SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = current_database()",
      );
      most = Math.max(most, row!.count);
      await sleep(200);
    }
    const results = await Promise.all(loads.map((load) => load.end()));
    const failures = results.flatMap((one) => one.failures);
    const unsealed = results.flatMap((one) => one.unsealed);
    figures(`${members.length} processes behind PgBouncer`, {
      "connections of the server at most": most,
      "of them direct, at most": DIRECT,
      calls: results.reduce((sum, one) => sum + one.calls, 0),
      failed: failures.length,
      loops: results.reduce((sum, one) => sum + one.loops, 0),
      "slowest call, ms": Math.max(...results.map((one) => one.slowestMs)),
    });
    assert.deepEqual(failures, []);
    assert.deepEqual(unsealed, []);
    assert.equal(members.length, 20);
    assert.ok(most <= SERVER_CONNECTIONS + DIRECT + 1, `${most} connections`);
  });
});
