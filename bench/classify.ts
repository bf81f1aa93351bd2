/**
 * The cost of judging: reports classified and repairs validated a second by the engine's process for 32 callers, and the
 * 99th percentile of their times, against a Koa application that parses a JSON body and returns the same bytes.
 *
 * Engine, bare server, PostgreSQL and callers are processes of their own. The callers use the gateway's client.
 */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { PLATFORM_TENANT } from "../contract/domain/mod.ts";
import { ROOT } from "../config.ts";
import { type Engine, openEngine, readReports } from "../judgement/engine/mod.ts";
import { openStore } from "../store/mod.ts";
import { freePort, testFolder } from "../test/_run.ts";
import { testDatabase } from "../test/_servers.ts";
import { type Figure, measureInTurns, type Pair, quantile, type Side } from "./_figures.ts";
import { type Server, startServer } from "./_servers.ts";
import { ratePerSecond, rounds, runConcurrently, scaled, timeMs } from "./_work.ts";

const ROUNDS = rounds(5);
const REQUESTS = scaled(1_000);
const REQUESTS_ALONE = scaled(200);
const CALLERS = 32;
const TIMEOUT_MS = 60_000;
const SECRET = "a secret of a measurement, of 32 letters";

/** Sends the n-th request of a kind. */
type SendRequest = (engine: Engine, n: number) => Promise<unknown>;

/** Measures classifying and validating. */
export async function* run(): AsyncGenerator<Figure> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const server = await startServer("processes/engine.ts", [], {
    SEALOOP_DATA: folder,
    SEALOOP_DATABASE_ENGINE_URL: database.urls.engine,
    SEALOOP_ENGINE_PORT: String(await freePort()),
    SEALOOP_ENGINE_SECRET: SECRET,
  });
  await waitUntilReady(server, database.urls.engine);
  try {
    for (const [name, send] of Object.entries(listRequests())) {
      yield* measureRequests(name, send, server, folder);
    }
  } finally {
    await server.stop();
    await database.drop();
  }
}

function listRequests(): Readonly<Record<string, SendRequest>> {
  const reports = readReports(join(ROOT, "judgement", "engine", "reports"));
  const textOf = (n: number) => reports[n % reports.length]!.text;
  const action = {
    description: "Restart the web server and look at its health",
    command: "systemctl restart nginx && systemctl is-active nginx",
    confidence: 0.9,
    blast_radius: 1,
  };
  return {
    classify: (engine, n) =>
      engine.classify({ description: textOf(n), source: "bench" }, PLATFORM_TENANT),
    validate: (engine, n) => engine.validate({ incident: textOf(n), action }, PLATFORM_TENANT),
  };
}

async function* measureRequests(
  name: string,
  send: SendRequest,
  server: Server,
  folder: string,
): AsyncGenerator<Figure> {
  const engine = openClient(server);
  const answer = join(folder, `${name}.json`);
  await writeFile(answer, JSON.stringify(await send(engine, 0)));
  const bare = await startServer("bench/_bare_koa_program.ts", [answer]);
  const engines: Pair<Engine> = { baseline: openClient(bare), platform: engine };
  const slowest: Pair<number[]> = { baseline: [], platform: [] };
  const rate = (side: Side) => async () => {
    const times: number[] = [];
    const perSecond = await ratePerSecond(
      REQUESTS,
      () =>
        runConcurrently(REQUESTS, CALLERS, async (n) => {
          times.push(await timeMs(() => send(engines[side], n)));
        }),
    );
    slowest[side].push(quantile(times, 0.99));
    return perSecond;
  };
  const rates = await measureInTurns(ROUNDS, {
    baseline: rate("baseline"),
    platform: rate("platform"),
  });
  await bare.stop();
  const baselineLabel = "Koa that parses and returns JSON";
  yield { label: `${name}/s, ${CALLERS} callers`, ...rates, baselineLabel };
  yield {
    label: `${name}, p99 of ${CALLERS} callers, ms`,
    platform: slowest.platform.slice(1), // without the round that warms up
    baseline: slowest.baseline.slice(1),
    baselineLabel,
  };
  const times = await runConcurrently(REQUESTS_ALONE, 1, (n) => timeMs(() => send(engine, n)));
  yield { label: `${name}, median of 1 caller, ms`, platform: [quantile(times, 0.5)] };
}

function openClient({ address }: Server): Engine {
  return openEngine({ url: address, secret: SECRET, timeoutMs: TIMEOUT_MS });
}

/** Waits until the classifier is loaded and the articles are stored. */
async function waitUntilReady({ address }: Server, databaseUrl: string): Promise<void> {
  const store = openStore(databaseUrl, "engine", 1);
  const isStored = async () =>
    (await store.asPlatform().first("SELECT FROM knowledge_words LIMIT 1")) !== undefined;
  const isLoaded = async () => {
    const health = await (await fetch(`${address}/health`)).json() as {
      ready: { classify: boolean };
    };
    return health.ready.classify;
  };
  while (!(await isLoaded() && await isStored())) await sleep(100);
  await store.close();
}
