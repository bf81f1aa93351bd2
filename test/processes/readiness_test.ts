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

  async function start(names: readonly Name[], cut?: Place["cut"]): Promise<void> {
    const place = { database, temporal: await testTemporal(), folder: await testFolder(), cut };
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

  /** Ends all of them by SIGTERM. */
  async function terminate(): Promise<void> {
    const ends = await all(async ({ name, terminate }) => ({ name, ...await terminate() }));
    assert.deepEqual(ends, processes.map(({ name }) => ({ name, code: 0, failures: [] })));
  }

  it("are ready and healthy once the database has its tables, and end while it is away", async () => {
    await start(PROCESS_NAMES);
    await all(async ({ line, health }) => {
      const { err } = await line(WAITS_FOR_DATABASE);
      assert.match(err!.message, /has no tables yet/);
      const answer = await health();
      if (!answer) return;
      assert.equal(answer.status, 503);
      assert.match(answer.detail!, /has no tables yet/);
    });
    await makeTables();
    await all(async (one) => {
      await one.line(READY);
      if (HEALTH[one.name]) await untilHealth(one, 200);
    });
    await all(async (one) => {
      const refused = one.database.refused();
      one.database.cut();
      await refused;
      if (!HEALTH[one.name]) return;
      assert.match((await untilHealth(one, 503)).detail!, /database can't be reached/);
    });
    await terminate();
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
    await start(PROCESS_NAMES, ["database", "temporal"]);
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
