/**
 * What judging costs: reports classified and repairs validated a second by the engine's process, 32 callers, and how
 * long the slowest hundredth of them waits, beside a bare Koa that reads a JSON body and gives the same bytes.
 *
 * Engine, bare server, PostgreSQL and callers are processes of their own; the callers ask as the gateway does.
 */
import { writeFile } from "node:fs/promises";
import { freePort, testFolder } from "../test/_run.ts";
import { testDatabase } from "../test/_servers.ts";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type Engine, openEngine, readReports } from "../engine/mod.ts";
import { openStore } from "../store/mod.ts";
import { ROOT } from "../config.ts";
import { type Figure, inTurns, quantile } from "./_figures.ts";
import { type Server, startServer } from "./_servers.ts";

const ROUNDS = 5;
const REQUESTS = 1_000;
const CALLERS = 32;
const SECRET = "a secret of a measurement, of 32 letters";

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const house = await startServer("../dist/processes/engine.js", [], {
    SEALOOP_DATA: folder,
    SEALOOP_DATABASE_APP_URL: database.urls.app,
    SEALOOP_ENGINE_PORT: String(await freePort()),
    SEALOOP_ENGINE_SECRET: SECRET,
  });
  const engine = clientOf(house);
  const reports = readReports(join(ROOT, "engine", "reports"));
  await untilReady(house, database.urls.app);
  const asks: Readonly<Record<string, (engine: Engine, at: number) => Promise<unknown>>> = {
    classify: (engine, at) =>
      engine.classify({ description: reports[at % reports.length]!.text, source: "bench" }),
    validate: (engine, at) =>
      engine.validate({
        incident: reports[at % reports.length]!.text,
        action: {
          description: "Restart the web server and look at its health",
          command: "systemctl restart nginx && systemctl is-active nginx",
          confidence: 0.9,
          blast_radius: 1,
        },
      }),
  };
  try {
    for (const [name, ask] of Object.entries(asks)) {
      const body = join(folder, `${name}.json`);
      await writeFile(body, JSON.stringify(await ask(engine, 0)));
      const bare = await startServer("./_bare_koa.ts", [body]);
      const engines = { house: engine, bare: clientOf(bare) };
      const slowest = { bare: [] as number[], house: [] as number[] };
      const one = (which: "bare" | "house") => async () => {
        const { seconds, waits } = await load((at) => ask(engines[which], at));
        slowest[which].push(quantile(waits, 0.99));
        return REQUESTS / seconds;
      };
      const rates = await inTurns(ROUNDS, { bare: one("bare"), house: one("house") });
      await bare.stop();
      const baseline = "Koa that reads and gives JSON";
      yield { what: `${name}/s, ${CALLERS} callers`, ...rates, baseline };
      yield {
        what: `${name}, p99 at ${CALLERS} callers, ms`,
        ...{ house: slowest.house.slice(1), bare: slowest.bare.slice(1), baseline },
      };
      yield { what: `${name}, median alone, ms`, house: [await alone((at) => ask(engine, at))] };
    }
  } finally {
    await house.stop();
    await database.drop();
  }
}

/** Asks with all callers at once, each one after the other. */
async function load(ask: (at: number) => Promise<unknown>) {
  const waits: number[] = [];
  let next = 0;
  const started = performance.now();
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    while (next < REQUESTS) {
      const at = next++;
      const asked = performance.now();
      await ask(at);
      waits.push(performance.now() - asked);
    }
  }));
  return { seconds: (performance.now() - started) / 1_000, waits };
}

/** The median of asking one at a time, milliseconds. */
async function alone(ask: (at: number) => Promise<unknown>): Promise<number> {
  const waits: number[] = [];
  for (let at = 0; at < 200; at++) {
    const asked = performance.now();
    await ask(at);
    waits.push(performance.now() - asked);
  }
  return quantile(waits, 0.5);
}

const clientOf = ({ address }: Server) =>
  openEngine({ url: address, secret: SECRET, timeoutMs: 60_000 });

/** Until the classifier is there, and the articles are in the store. */
async function untilReady({ address }: Server, databaseUrl: string): Promise<void> {
  const store = openStore(databaseUrl, "app", 1);
  const stored = async () =>
    (await store.asPlatform().first("SELECT FROM knowledge_words LIMIT 1")) !== undefined;
  const ready = async () => {
    const health = await (await fetch(`${address}/health`)).json() as {
      ready: { classify: boolean };
    };
    return health.ready.classify;
  };
  while (!(await ready() && await stored())) await sleep(100);
  await store.close();
}
