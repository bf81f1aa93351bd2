/** A compiled platform whose servers and processes are restarted as by `npm start`. */
import { EventEmitter, once } from "node:events";
import { join } from "node:path";
import { Client, Connection } from "@temporalio/client";
import { loadConfig, programPath } from "../../config.ts";
import {
  claimDataFolder,
  readJson,
  startPostgres,
  startTemporal,
  type TreeProcess,
} from "../../runtime/embedded/mod.ts";
import { DEFAULT_POLICY } from "../../judgement/guard/mod.ts";
import { openSealer, type Sealer } from "../../ledger/mod.ts";
import {
  initialEnvironment,
  keepServer,
  openChild,
  PROCESSES,
  serverEnvironment,
} from "../../processes/supervisor/mod.ts";
import { migrate, openStore, type Store } from "../../store/mod.ts";
import { setPolicy } from "../../store/calls/mod.ts";
import { clientFor } from "../../runtime/temporal/mod.ts";
import { platformSettings } from "../_platform.ts";
import { testFolder } from "../_run.ts";
import { ensureSecondsLeftInDay } from "../_time.ts";
import { letTestsSeal } from "../_servers.ts";

/** Processes that are killed while loops run. */
export const TARGETS = ["worker", "Temporal", "PostgreSQL"] as const;
export type Target = typeof TARGETS[number];

/** A platform: PostgreSQL, Temporal, engine, worker, sequencer, and what is asked for besides. */
export interface CompiledPlatform {
  readonly dataDir: string;
  readonly store: Store;
  readonly sealer: Sealer;
  readonly client: Client;
  /** URL of the platform's database for its superuser. */
  readonly superuserUrl: string;
  /** Settings that its processes run with, by the names of environment variables. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** Kills a process with -9, and waits until its successor runs. */
  kill(target: Target | "gateway"): Promise<void>;
  /** Returns process ids by name: `worker`, `engine`, `gateway`, `Temporal`, `PostgreSQL`. */
  processes(): ReadonlyMap<string, number>;
  close(): Promise<void>;
}

/** Uptime after which a process is restarted at once, shorter than usual as processes are killed often here. */
const STEADY_MS = 3_000;
const BACK_MS = 90_000;

/**
 * Starts it.
 *
 * @param say told what the supervisor does
 * @param settings by the names of environment variables
 * @param others names of processes to start besides
 */
export async function startCompiledPlatform(
  say: (text: string) => void,
  settings: Readonly<Record<string, string>> = {},
  others: readonly string[] = [],
): Promise<CompiledPlatform> {
  await ensureSecondsLeftInDay(120); // its sweep runs once a day
  const dataDir = await testFolder();
  const tree = await claimDataFolder(dataDir);
  const env: NodeJS.ProcessEnv = {
    PATH: process.env.PATH,
    HOME: process.env.HOME,
    ...await platformSettings(dataDir),
    SEALOOP_SWEEP_SECONDS: "86400", // loops are started one by one
    ...settings,
  };
  const config = loadConfig(env);
  const news = new EventEmitter();
  const ports = {
    grpc: config.settings.SEALOOP_TEMPORAL_PORT,
    ui: config.settings.SEALOOP_TEMPORAL_UI_PORT,
  };
  const common = {
    fail: (error: Error) => say(error.message),
    print(text: string) {
      say(text);
      const back = / was started again/.exec(text);
      if (back) news.emit(text.slice(0, back.index).toLowerCase());
    },
    stableMs: STEADY_MS,
    log: dataDir,
  };
  const [postgres, temporal] = await Promise.all([
    keepServer({
      ...common,
      title: "PostgreSQL",
      start: () => startPostgres(dataDir, config.settings.SEALOOP_POSTGRES_PORT, tree),
    }),
    keepServer({
      ...common,
      title: "Temporal",
      start: () => startTemporal(dataDir, ports, config.temporal, { tree }),
    }),
  ]);
  const { urls, superuserUrl } = postgres.current();
  const owner = openStore(urls.owner, "owner", 2);
  await migrate(owner);
  await letTestsSeal(owner);
  await allowMany(owner);
  await owner.close();
  const store = openStore(urls.worker, "worker", 10);

  const { address, namespace, clientConfig } = temporal.current();
  const names = ["worker", "sequencer", "engine", ...others];
  const children = PROCESSES.filter(({ name }) => names.includes(name));
  const opened = await Promise.all(children.map(async (entry) => {
    const child = openChild({
      ...entry,
      ...common,
      program: programPath(`processes/${entry.name}.ts`),
      env: initialEnvironment(entry, env),
      dataDir,
      tree,
    });
    await child.start(serverEnvironment(entry, urls, { TEMPORAL_CONFIG_FILE: clientConfig }));
    return child;
  }));
  const processes = () => {
    const { processes } = readJson(join(dataDir, "run.json")) as { processes: TreeProcess[] };
    return new Map(processes.map(({ name, pid }) => [name, pid]));
  };
  const connection = await Connection.connect({ address });
  const sealer = await openSealer(store);
  return {
    dataDir,
    env,
    store,
    sealer,
    superuserUrl: databaseOf(superuserUrl, urls.worker),
    client: clientFor(new Client({ connection, namespace }), store),
    async kill(target) {
      const back = once(news, target.toLowerCase(), { signal: AbortSignal.timeout(BACK_MS) });
      process.kill(processes().get(target)!, "SIGKILL");
      await back;
    },
    processes,
    async close() {
      for (const part of [postgres, temporal, ...opened]) part.stopRestarting();
      await Promise.allSettled([sealer.close(), connection.close()]);
      await store.close();
      await tree.stop();
      await tree.release();
    },
  };
}

/** Raises the limit on repairs per hour, above which the guardrails ask a person. */
async function allowMany(owner: Store): Promise<void> {
  const bounds = { ...DEFAULT_POLICY.bounds, max_repairs_hour: 100_000 };
  await setPolicy(owner.asPlatform(), "guard_policies", { ...DEFAULT_POLICY, bounds });
}

function databaseOf(superuserUrl: string, url: string): string {
  return Object.assign(new URL(superuserUrl), { pathname: new URL(url).pathname }).href;
}
