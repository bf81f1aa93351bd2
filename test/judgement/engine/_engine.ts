/** Engines for tests: the application within this process, or a real process that can be killed and started again. */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { loadConfig } from "../../../config.ts";
import {
  type Classifier,
  createEngineApp,
  createReportClassifier,
  type Engine,
  openClassifier,
  openEngine,
  openKnowledgeBase,
  openModel,
  openWriter,
} from "../../../judgement/engine/mod.ts";
import { openGuard } from "../../../judgement/guard/mod.ts";
import { openStore, requireReady } from "../../../store/mod.ts";
import { createLog, serve, serverNames } from "../../../runtime/web/mod.ts";
import { program } from "../../_programs.ts";
import { freePort } from "../../_run.ts";

/** Time limit of clients in tests. The platform's own is two seconds, which a busy machine may exceed. */
export const TEST_TIMEOUT_MS = 30_000;

/** A running engine process. */
export interface TestEngine {
  /** Without a slash at the end. */
  readonly url: string;
  readonly secret: string;
  readonly client: Engine;
  /** Starts it (again), and waits until it is ready. */
  start(): Promise<void>;
  /** Kills it, as a crash would end it. */
  kill(): Promise<void>;
}

let classifierOnce: Promise<Classifier> | undefined;

/**
 * Serves the engine's application within this process, for tests of its clients.
 *
 * @param databaseUrl as role `engine`
 * @param env environment variables of the model that writes
 */
export async function serveEngine(databaseUrl: string, env: Record<string, string> = {}) {
  const secret = "a secret of a test, of more than 32 characters";
  const store = openStore(databaseUrl, "engine", 4);
  const { settings } = loadConfig(env);
  const model = openModel(settings);
  const log = createLog("test", "silent");
  const classifier = await (classifierOnce ??= openClassifier());
  const knowledge = openKnowledgeBase({ store, classifier, log });
  await knowledge.stored;
  const classify = createReportClassifier({ classifier, knowledge, log });
  const app = createEngineApp({
    secret,
    http: { log, trustedHops: 0, secure: false, names: serverNames(settings) },
    classify: () => classify,
    knowledge: () => knowledge,
    write: openWriter({ asking: model && { model, ms: settings.SEALOOP_MODEL_WRITE_MS }, log }),
    guard: openGuard({ store }),
    checkReady: () => requireReady(store),
  });
  const server = await serve(app, settings, 0);
  return {
    url: server.address,
    secret,
    client: openEngine({ url: server.address, secret, timeoutMs: TEST_TIMEOUT_MS }),
    async close() {
      await server.close(0);
      await knowledge.close();
      await store.close();
    },
  };
}

/**
 * Starts an engine process.
 *
 * @param databaseUrl as role `engine`
 * @param settings environment variables
 * @param isReady tells whether it can be used; an error says no
 */
export async function startEngine(
  databaseUrl: string,
  settings: Readonly<Record<string, string>> = {},
  isReady = async (client: Engine) => (await client.health()).classify,
): Promise<TestEngine> {
  const port = settings.SEALOOP_ENGINE_PORT ?? String(await freePort());
  const secret = "a secret of a test, of more than 32 characters";
  const url = `http://127.0.0.1:${port}`;
  const entry = await program("processes/engine.ts");
  let child: ChildProcess | undefined;
  const engine: TestEngine = {
    url,
    secret,
    client: openEngine({ url, secret, timeoutMs: TEST_TIMEOUT_MS }),
    async start() {
      child = fork(entry, [], {
        execArgv: [],
        stdio: ["ignore", "ignore", "inherit", "ipc"],
        env: {
          PATH: process.env.PATH,
          SEALOOP_DATABASE_ENGINE_URL: databaseUrl,
          SEALOOP_ENGINE_PORT: port,
          SEALOOP_ENGINE_SECRET: secret,
          ...settings,
        },
      });
      await Promise.race([
        waitUntil(() => isReady(engine.client)),
        once(child, "exit").then(throwOnExit),
      ]);
    },
    async kill() {
      if (!child || child.exitCode !== null || child.signalCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
  await engine.start();
  return engine;
}

async function waitUntil(isReady: () => Promise<boolean>): Promise<void> {
  while (!await isReady().catch(() => false)) await sleep(50);
}

function throwOnExit([code]: unknown[]): never {
  throw new Error(`The engine ended with ${code}; set SEALOOP_LOG_LEVEL to see why`);
}
