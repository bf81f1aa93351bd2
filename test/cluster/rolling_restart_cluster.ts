/**
 * A rolling restart of all processes behind HAProxy, under loops and calls that seal.
 *
 *     npm run test:cluster -- test/cluster/rolling_restart_cluster.ts
 *     CALLS=70 LOOPS=200 npm run test:cluster -- …     more calls a second, more loops at once
 */
import assert from "node:assert/strict";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getHead } from "../../ledger/receipts/mod.ts";
import { openStore, type Store } from "../../store/mod.ts";
import { testFolder } from "../_run.ts";
import { emptyDatabase, type TestDatabase, testPostgres } from "../_servers.ts";
import { eventually } from "../_time.ts";
import { skipSuite } from "../remote/_skip.ts";
import { fetchTemporal } from "./_fetch.ts";
import { figures } from "./_figures.ts";
import { type HaProxy, startHaProxy, unpackHaProxy } from "./_haproxy.ts";
import { startLoad } from "./_load.ts";
import { addMember, type Member, setUp, sharedSettings } from "./_platform.ts";
import { startTemporalCluster, type TemporalCluster } from "./_temporal.ts";

const CALLS = Number(process.env.CALLS ?? 40);
const LOOPS = Number(process.env.LOOPS ?? 4);
/** Time between two restarts, in which the load runs on. */
const PAUSE_MS = 2_000;

describe("a rolling restart behind HAProxy", function () {
  this.timeout(1_200_000);
  let database: TestDatabase;
  let temporal: TemporalCluster;
  let proxy: HaProxy;
  let store: Store;
  let key: string;
  let toolKey: string;
  const members: Member[] = [];

  before(async function () {
    const [programs, folder] = [await fetchTemporal(), await testFolder()];
    if ("missing" in programs) return skipSuite(this, programs.missing);
    const missing = await unpackHaProxy(folder);
    if (missing !== undefined) return skipSuite(this, missing);
    const { superuserUrl } = await testPostgres();
    temporal = await startTemporalCluster(programs.folder, join(folder, "temporal"), superuserUrl);
    database = await emptyDatabase();
    const cluster = {
      database,
      temporal: { address: temporal.address, namespace: "operations" },
      settings: {
        ...sharedSettings(),
        SEALOOP_DRAIN_SECONDS: "3",
        SEALOOP_TRUSTED_HOPS: "1",
        SEALOOP_PLACE: "n1.example.net",
        SEALOOP_LIMIT_TOOLS: "1000000",
        SEALOOP_LIMIT_ENTERPRISE: "1000000",
        SEALOOP_ENGINE_URL: "http://127.0.0.1:1",
      },
    };
    key = await setUp(cluster);
    const engines = [await addMember("engine", cluster), await addMember("engine", cluster)];
    const gateways = [await addMember("gateway", cluster), await addMember("gateway", cluster)];
    const tools = [await addMember("mcp", cluster), await addMember("mcp", cluster)];
    proxy = await startHaProxy(folder, { gateway: gateways, tools, engine: engines });
    cluster.settings.SEALOOP_ENGINE_URL = proxy.urls.engine!;
    const shared = await testFolder();
    members.push(...gateways, ...tools, ...engines);
    members.push(
      await addMember("worker", cluster, shared),
      await addMember("worker", cluster, shared),
    );
    members.push(await addMember("sequencer", cluster));
    await Promise.all(members.map((member) => member.start()));
    store = openStore(database.urls.worker, "worker", 2);
    await eventually(async () => {
      const paths = [`${proxy.urls.gateway}/v1/health`, `${proxy.urls.tools}/health`];
      const answers = await Promise.all(paths.map((url) => fetch(url)));
      return answers.every(({ ok }) => ok) || undefined; // the proxy has seen that they are ready
    });
    toolKey = await issueKey();
  });
  after(async () => {
    await Promise.all(members.map((member) => member.kill()));
    await proxy?.stop();
    await store?.close();
    await temporal?.stop();
    await database?.drop();
  });

  /** Issues a key for tools, through the proxy. */
  async function issueKey(): Promise<string> {
    const response = await fetch(`${proxy.urls.gateway}/v1/keys/generate`, {
      method: "POST",
      headers: { "x-api-key": key, "content-type": "application/json" },
      body: JSON.stringify({ tenant: "platform", tier: "enterprise" }),
    });
    assert.ok(response.ok, await response.clone().text());
    return (await response.json() as { api_key: string }).api_key;
  }

  it("fails no call, leaves nothing to people, and does nothing twice", async () => {
    const tools = { url: proxy.urls.tools!, key: toolKey };
    const target = { gateway: proxy.urls.gateway!, key, tools };
    const [{ size }, startedMs] = [await getHead(store), performance.now()];
    const load = startLoad(target, { callsPerSecond: CALLS, loops: LOOPS });
    const stops: Record<string, number[]> = {};
    await sleep(PAUSE_MS);
    for (const member of members) {
      (stops[member.name] ??= []).push(await member.stop());
      await member.start();
      await sleep(PAUSE_MS);
    }
    const { calls, failures, loops, unsealed, slowestMs } = await load.end();
    const seconds = (performance.now() - startedMs) / 1_000;
    const db = store.asPlatform();
    const sealed = (await getHead(store)).size - size;
    const [counted] = await db.query<Record<string, number>>(
      `SELECT (SELECT count(*) FROM board_tasks)::int AS tasks,
              (SELECT count(DISTINCT title) FROM board_tasks)::int AS titles,
              (SELECT count(*) FROM tickets WHERE escalated)::int AS escalated,
              (SELECT count(*) FROM (SELECT FROM effects GROUP BY service HAVING count(*) > 1) AS one)::int AS twice`,
    );
    figures("rolling restart behind HAProxy", {
      restarted: members.length,
      seconds,
      calls,
      failed: failures.length,
      "slowest call, ms": slowestMs,
      "receipts/s": sealed / seconds,
      loops,
      "loops at once": LOOPS,
      escalated: counted!.escalated!,
      "done twice": counted!.twice! + counted!.tasks! - counted!.titles!,
      "longest stop, ms": Math.max(...Object.values(stops).flat()),
    });
    const some = [...new Set(failures), ...unsealed].slice(0, 10);
    assert.deepEqual(some, [], proxy.log());
    assert.ok(loops > 0 && calls > 0);
    assert.deepEqual(
      [counted!.escalated, counted!.twice, counted!.tasks! - counted!.titles!],
      [0, 0, 0],
    );
  });
});
