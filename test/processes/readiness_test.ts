import assert from "node:assert/strict";
import { PROCESS_NAMES } from "../../contract/domain/mod.ts";
import { migrate, openStore } from "../../store/mod.ts";
import { testFolder } from "../_run.ts";
import { emptyDatabase, letTestsSeal, type TestDatabase, testTemporal } from "../_servers.ts";
import { eventually } from "../_time.ts";
import { HEALTH, type Name, type Place, startProcess, type TestProcess } from "./_process.ts";

const WAITS_FOR_DATABASE = /^Cannot use PostgreSQL yet/;
const READY = /^ready$/;
/** Processes that know Temporal. */
const CLIENTS = ["gateway", "mcp", "worker", "sequencer"] as const;

describe("the platform's processes", () => {
  let database: TestDatabase;
  const processes: TestProcess[] = [];

  beforeEach(async () => {
    database = await emptyDatabase();
  });
  afterEach(async () => {
    await Promise.all(processes.splice(0).map((one) => one.kill()));
    await database.drop();
  });

  async function makeTables(): Promise<void> {
    const owner = openStore(database.urls.owner, "owner", 2);
    await migrate(owner);
    await letTestsSeal(owner);
    await owner.close();
  }

  async function start(
    names: readonly Name[],
    more: Pick<Place, "cut" | "settings"> = {},
  ): Promise<void> {
    const place = { database, temporal: await testTemporal(), folder: await testFolder(), ...more };
    await Promise.all(names.map(async (name) => {
      processes.push(await startProcess(name, place));
    }));
  }

  const all = <T>(work: (one: TestProcess) => Promise<T>) => Promise.all(processes.map(work));

  /** Waits until a health check has this status: an answer counts for a second. */
  const untilHealth = ({ health }: TestProcess, status: number) =>
    eventually(async () => {
      const answer = await health();
      return answer?.status === status ? answer : undefined;
    });

  /** Waits until the probe of a process gives one of these reasons, or none. */
  const untilUnready = ({ unready }: TestProcess, codes: readonly string[]) =>
    eventually(async () => {
      const reasons = await unready();
      const isExpected = codes.length === 0
        ? reasons?.length === 0
        : reasons?.some((code) => codes.includes(code));
      return isExpected || undefined;
    }).catch(async () => assert.deepEqual(await unready(), codes));

  /** Ends all of them by SIGTERM. */
  async function terminate(): Promise<void> {
    const ends = await all(async ({ name, terminate }) => ({ name, ...await terminate() }));
    assert.deepEqual(ends, processes.map(({ name }) => ({ name, code: 0, failures: [] })));
  }

  it("are ready and healthy once the database has its tables, and end while it is away", async () => {
    await start(PROCESS_NAMES);
    await all(async (one) => {
      const { line, health } = one;
      const { err } = await line(WAITS_FOR_DATABASE);
      assert.match(err!.message, /has no tables yet/);
      await untilUnready(one, ["waits_for_schema"]);
      const answer = await health();
      if (!answer) return;
      assert.equal(answer.status, 503);
      assert.match(answer.detail!, /has no tables yet/);
    });
    await makeTables();
    await all(async (one) => {
      await one.line(READY);
      if (HEALTH[one.name]) await untilHealth(one, 200);
      await untilUnready(one, []);
    });
    await all(async (one) => {
      const refused = one.database.refused();
      one.database.cut();
      await refused;
      await untilUnready(one, ["database", "waits_for_postgresql", "waits_for_turn"]);
      if (!HEALTH[one.name]) return;
      assert.match((await untilHealth(one, 503)).detail!, /database can't be reached/);
    });
    await terminate();
  });

  it("refuse a database that a newer version has changed so that they can't work with it", async () => {
    await makeTables();
    await database.executeAsSuperuser(
      "INSERT INTO migrations (name, batch, migration_time) VALUES ('9998_small', 99, now())",
    );
    await start(["ledger"]);
    await processes[0]!.line(READY); // the change is one that it can work with
    await database.executeAsSuperuser(
      `CREATE OR REPLACE FUNCTION oldest_process() RETURNS text LANGUAGE sql AS $$ SELECT '9999_large' $$`,
    );
    await untilUnready(processes[0]!, ["database"]);
    await start(["gateway"]);
    const refusal =
      /^Cannot use this database: a newer version has brought it to 9998_small.* from 9999_large on/;
    await processes[1]!.line(refusal);
  });

  it("work on after SIGTERM for as long as they are told to, while their probes say that they end", async () => {
    await makeTables();
    await start(["gateway", "ledger"], { settings: { SEALOOP_DRAIN_SECONDS: "3" } });
    await all((one) => one.line(READY));
    const ended = terminate();
    await all(async (one) => {
      await untilUnready(one, ["stopping"]);
      assert.deepEqual(await one.health(), { status: 200, connection: "close", detail: undefined });
    });
    await ended;
  });

  it("end while Temporal is away", async () => {
    await makeTables();
    await start(CLIENTS);
    await all(async ({ line, temporal }) => {
      await line(READY);
      temporal.cut();
    });
    await terminate();
  });

  it("end while they wait for the database, and for Temporal", async () => {
    await makeTables();
    await start(PROCESS_NAMES, { cut: ["database", "temporal"] });
    await all(async ({ name, line, database, temporal }) => {
      await line(WAITS_FOR_DATABASE);
      if (name !== "sequencer") return;
      const refused = temporal.refused();
      database.restore();
      await refused;
    });
    await terminate();
  });
});
