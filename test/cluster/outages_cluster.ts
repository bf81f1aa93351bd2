/**
 * Outages of the database, Temporal's included, under loops and calls.
 *
 *     OUTAGES=3 npm run test:cluster -- test/cluster/outages_cluster.ts
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { clientFor } from "../../runtime/temporal/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { testFolder } from "../_run.ts";
import { emptyDatabase, type TestDatabase, testPostgres } from "../_servers.ts";
import { skipSuite } from "../remote/_skip.ts";
import { type Forwarding, forwardTo } from "../runtime/temporal/_forwarding.ts";
import { fetchTemporal } from "./_fetch.ts";
import { figures } from "./_figures.ts";
import { startLoad } from "./_load.ts";
import { addMember, type Member, setUp, sharedSettings } from "./_platform.ts";
import { startTemporalCluster, type TemporalCluster } from "./_temporal.ts";

/** Seconds of the outages, in their order. */
const LENGTHS = [1, 5, 30, 2, 12, 20, 3, 8, 25, 1, 15, 30].slice(
  0,
  Number(process.env.OUTAGES ?? 12),
);
const CALLS = Number(process.env.CALLS ?? 10);
const LOOPS = Number(process.env.LOOPS ?? 2);
/** Time after which every worker works again, from the moment at which the database answers. */
const MAX_AWAY_MS = 20_000;
const NAMESPACE = "operations";

describe("outages of the database", function () {
  this.timeout(1_800_000);
  let database: TestDatabase;
  let temporal: TemporalCluster;
  let way: Forwarding;
  let connection: Connection;
  let store: Store;
  let key: string;
  const members: Member[] = [];
  const workers = () => members.filter(({ name }) => name === "worker");

  before(async function () {
    const programs = await fetchTemporal();
    if ("missing" in programs) return skipSuite(this, programs.missing);
    const { superuserUrl, port } = await testPostgres();
    way = await forwardTo(port);
    const through = Object.assign(new URL(superuserUrl), { port: String(way.port) }).href;
    const folder = join(await testFolder(), "temporal");
    temporal = await startTemporalCluster(programs.folder, folder, through);
    database = await emptyDatabase();
    const cluster = {
      database,
      temporal: { address: temporal.address, namespace: NAMESPACE },
      settings: { ...sharedSettings(), SEALOOP_ENGINE_URL: "" },
    };
    key = await setUp(cluster);
    const engine = await addMember("engine", cluster);
    cluster.settings.SEALOOP_ENGINE_URL = `http://127.0.0.1:${engine.port}`;
    members.push(
      engine,
      await addMember("gateway", cluster),
      await addMember("sequencer", cluster),
    );
    for (const place of ["n1.example.net", "n2.example.net"]) {
      const settings = { ...cluster.settings, SEALOOP_PLACE: place };
      members.push(await addMember("worker", { ...cluster, settings }));
    }
    await Promise.all(members.map((member) => member.start()));
    connection = await Connection.connect({ address: temporal.address });
    store = openStore(database.urls.worker, "worker", 2);
  });
  after(async () => {
    await Promise.all(members.map((member) => member.kill()));
    await connection?.close();
    await store?.close();
    await temporal?.stop();
    await way?.close();
    await database?.drop();
  });

  const isAlive = ({ current }: Member) => {
    try {
      return process.kill(current().pid, 0);
    } catch {
      return false;
    }
  };

  /** Runs small workflows until every worker has taken a task. @returns milliseconds, and how many had to be started again */
  async function untilAllWork(n: number) {
    const { workflow } = clientFor(new Client({ connection, namespace: NAMESPACE }), store);
    const startedMs = performance.now();
    const waiting = new Set(workers().map(({ current }) => current().pid));
    let restarts = 0;
    for (let turn = 0; waiting.size > 0; turn++) {
      for (const member of members) {
        if (isAlive(member)) continue;
        restarts++;
        waiting.delete(member.current().pid);
        await member.start();
      }
      await Promise.all([1, 2, 3, 4].map(async (part) => {
        const workflowId = `outage-${n}-${turn}-${part}`;
        try {
          const run = await workflow.start(WORKFLOW.reconcileRuns, {
            taskQueue: TASK_QUEUE.itsm,
            workflowId,
          });
          await Promise.race([run.result(), sleep(2_000)]);
          for (
            const { workflowTaskStartedEventAttributes: task } of (await run.fetchHistory()).events!
          ) {
            if (task) waiting.delete(Number(task.identity!.split("@")[0]));
          }
        } catch {
          await sleep(250); // Temporal is not back yet
        }
      }));
    }
    return { ms: performance.now() - startedMs, restarts };
  }

  it("leave every worker working within 20 seconds, and do nothing twice", async () => {
    const gateway = `http://127.0.0.1:${members.find(({ name }) => name === "gateway")!.port}`;
    const load = startLoad({ gateway, key }, { callsPerSecond: CALLS, loops: LOOPS });
    const back: number[] = [];
    let restarted = 0;
    for (const [n, seconds] of LENGTHS.entries()) {
      await sleep(2_000);
      const ways = [way, ...members.map(({ current }) => current().database)];
      for (const one of ways) one.cut();
      await sleep(seconds * 1_000);
      for (const one of ways) one.restore();
      const { ms, restarts } = await untilAllWork(n);
      back.push(ms);
      restarted += restarts;
    }
    const { calls, failures, loops, unsealed } = await load.end();
    const [counted] = await store.asPlatform().query<Record<string, number>>(
      `SELECT (SELECT count(*) FROM (SELECT FROM effects GROUP BY service HAVING count(*) > 1) AS one)::int AS twice,
              (SELECT count(*) - count(DISTINCT title) FROM board_tasks)::int AS tasks`,
    );
    figures(`${LENGTHS.length} outages of the database`, {
      "seconds of each": LENGTHS.join(", "),
      "until all workers work again, s": back.map((ms) => (ms / 1_000).toFixed(1)).join(", "),
      "processes that ended and were started again": restarted,
      calls,
      "refused meanwhile": failures.length,
      loops,
      "left to people": unsealed.length,
      "done twice": counted!.twice! + counted!.tasks!,
    });
    assert.ok(Math.max(...back) <= MAX_AWAY_MS, `${back}`);
    assert.deepEqual([counted!.twice, counted!.tasks], [0, 0]);
    assert.ok(loops > 0);
  });
});
