/** `npm start`: brings the whole platform up as one tree of processes, keeps it running, and takes it down again. */
import { dirname, extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { BadSetting, type Config, loadConfig } from "./config.ts";
import {
  claimDataFolder,
  EmbeddedError,
  parentOf,
  startPostgres,
  startTemporal,
  type Tree,
} from "./embedded/mod.ts";
import {
  baseEnvironment,
  applyGovernanceFile,
  checkPorts,
  type Child,
  ENTRIES,
  type Entry,
  type Environment,
  governanceFileOf,
  grants,
  keepServer,
  openChild,
  openProgress,
  type Progress,
  type RunningServer,
  temporalEnvironment,
  type Urls,
  usesOwnTemporal,
  type WantedPort,
} from "./processes/mod.ts";
import { ensureAdminKey, migrate, openStore } from "./store/mod.ts";

/** What the parts of this file share. */
interface Platform {
  readonly config: Config;
  readonly env: NodeJS.ProcessEnv;
  readonly progress: Progress;
  readonly tree: Tree;
  /** What is kept running, and is to be left ended from when we stop. */
  readonly kept: { retire(): void }[];
  /** Ends the platform with a line that says why. */
  fail(error: Error): void;
}

const PARENT_POLL_MS = 1_000;

process.exitCode = await main();
process.exit();

async function main(): Promise<number> {
  const progress = openProgress(process.stdout);
  let fail!: (error: unknown) => void;
  const failed = new Promise<never>((_, reject) => fail = reject);
  failed.catch(() => {});
  process.on("uncaughtException", fail).on("unhandledRejection", fail);
  let tree: Tree | undefined;
  const kept: Platform["kept"] = [];
  let code = 0;
  try {
    const config = loadConfig(process.env);
    tree = await claimDataFolder(config.dataDir, (names) => {
      progress.line(`  Left over by one that was killed, and stopped: ${names.join(", ")}`);
    });
    const asked = untilAsked(tree);
    const platform: Platform = { config, env: process.env, progress, tree, kept, fail };
    await checkPorts(wantedPorts(platform));
    const children = load(platform);
    await Promise.race([asked, failed, start(platform, children)]);
    const reason = await Promise.race([asked, failed]);
    progress.mute();
    progress.line(`\nStopping: ${reason}`);
  } catch (error) {
    progress.mute();
    progress.line(`\n${explain(error)}`);
    code = 1;
  }
  for (const part of kept) part.retire();
  await tree?.stop();
  await tree?.release();
  if (tree) progress.line("Stopped");
  return code;
}

/** Brings the servers up, prepares them, and lets the processes go. */
async function start(platform: Platform, children: readonly Launched[]): Promise<void> {
  const { config, progress } = platform;
  const [urls, temporal] = await Promise.all([bringDatabase(platform), bringTemporal(platform)]);
  const addresses = await Promise.all(children.map(async ({ entry, child }) => {
    const address = await progress.step(entry.title, {
      run: () => child.go(grants(entry, urls, temporal.env)),
      told: (address) => address ? address.replace(/^https?:\/\//, "on ") : "taking work",
    });
    return [entry.name, address] as const;
  }));
  const { gateway, mcp, ledger } = Object.fromEntries(addresses);
  const seconds = (performance.now() / 1000).toFixed(1); // since this process was started
  progress.line(`\nsealoop is ready (${seconds} s)`);
  const places = {
    Gateway: gateway && `${gateway}  (documentation: ${gateway}/docs)`,
    "Tool server": mcp && `${mcp}/mcp`,
    Ledger: ledger,
    "Temporal UI": temporal.ui,
    "Admin key": join(config.dataDir, "admin.key"),
    Logs: join(config.dataDir, "logs"),
  };
  for (const [title, place] of Object.entries(places)) {
    if (place) progress.line(`  ${title.padEnd(13)}${place}`);
  }
}

/** A process that is loading, or that runs. */
interface Launched {
  readonly entry: Entry;
  readonly child: Child;
}

/** Starts the processes loading, while the servers come up that they will need. */
function load({ config, env, tree, kept, progress }: Platform): Launched[] {
  const here = fileURLToPath(import.meta.url);
  const elsewhere = config.settings.SEALOOP_ENGINE_URL ? "engine" : undefined;
  return ENTRIES.filter(({ name }) => name !== elsewhere).map((entry) => {
    const child = openChild({
      ...entry,
      entry: join(dirname(here), "processes", `${entry.name}${extname(here)}`),
      env: baseEnvironment(entry, env),
      dataDir: config.dataDir,
      tree,
      say: (text) => progress.line(`  ${text}`),
    });
    kept.push(child);
    return { entry, child };
  });
}

async function bringDatabase(platform: Platform): Promise<Urls> {
  const { config: { settings, dataDir }, progress, tree } = platform;
  const start = () => startPostgres(dataDir, settings.SEALOOP_POSTGRES_PORT, tree);
  const urls = settings.DATABASE_URL ? externalUrls(platform) : await progress.step("PostgreSQL", {
    run: () => keep(platform, "PostgreSQL", start),
    told: ({ version, port }) => `${version} on 127.0.0.1:${port}`,
  }).then(({ urls }) => urls);
  const { firstKey } = await progress.step("Database", {
    run: () => prepareDatabase(urls, join(dataDir, "admin.key")),
    told: ({ migrations }) => migrations === 0 ? "up to date" : `${migrations} migrations`,
  });
  if (firstKey) progress.line(`  First key    ${firstKey}  (admin; shown this once)`);
  await bringPolicy(platform, urls.app!);
  return urls;
}

/** Before any door is open: what the operator forbids is forbidden to the first call too. */
async function bringPolicy({ config, progress }: Platform, url: string): Promise<void> {
  const store = openStore(url, "app", 1);
  try {
    const file = governanceFileOf(config);
    const { version, trouble } = await applyGovernanceFile(file, store);
    if (!trouble) return;
    progress.line(`  The governance file ${file.path} is not followed: ${trouble}`);
    progress.line(`  Policy ${version} stays in force`);
  } finally {
    await store.close();
  }
}

/** Starts a server and keeps it running. @returns its first life; those after it are on the same ports */
async function keep<S extends RunningServer>(
  { progress, kept, fail }: Platform,
  title: string,
  start: () => Promise<S>,
): Promise<S> {
  const say = (text: string) => progress.line(`  ${text}`);
  const server = await keepServer({ title, start, say, fail });
  kept.push(server);
  return server.current();
}

function externalUrls({ config: { settings } }: Platform): Urls {
  return {
    owner: settings.DATABASE_URL,
    app: settings.SEALOOP_DATABASE_APP_URL ?? settings.DATABASE_URL,
    sequencer: settings.SEALOOP_DATABASE_SEQUENCER_URL ?? settings.DATABASE_URL,
    ledger: settings.SEALOOP_DATABASE_LEDGER_URL ?? settings.DATABASE_URL,
  };
}

/** Brings the schema up to date, and makes the first admin key. @returns how many steps that took, and a key made now */
async function prepareDatabase(
  urls: Urls,
  adminKeyFile: string,
): Promise<{ migrations: number; firstKey: string | undefined }> {
  const owner = openStore(urls.owner!, "owner", 2);
  const app = openStore(urls.app!, "app", 1);
  try {
    const { length: migrations } = await migrate(owner);
    return { migrations, firstKey: await ensureAdminKey(app.asPlatform(), adminKeyFile) };
  } catch (error) {
    const { host } = new URL(urls.owner!);
    throw new EmbeddedError(`Cannot use the database at ${host}: ${(error as Error).message}`);
  } finally {
    await Promise.all([owner.close(), app.close()]);
  }
}

/** Temporal as the processes are to reach it. */
interface TemporalPlace {
  readonly env: Environment;
  readonly ui?: string;
}

async function bringTemporal(platform: Platform): Promise<TemporalPlace> {
  const { config: { settings, temporal, dataDir }, env, progress, tree } = platform;
  if (usesOwnTemporal(env)) return { env: temporalEnvironment(env) };
  const ports = { grpc: settings.SEALOOP_TEMPORAL_PORT, ui: settings.SEALOOP_TEMPORAL_UI_PORT };
  const server = await progress.step("Temporal", {
    run: (doing) =>
      keep(
        platform,
        "Temporal",
        () => startTemporal(dataDir, ports, temporal, { progress: doing, tree }),
      ),
    told: ({ version, address }) => `${version} on ${address}`,
  });
  return { env: { TEMPORAL_CONFIG_FILE: server.clientConfig }, ui: server.ui };
}

function wantedPorts({ config: { settings }, env }: Platform): WantedPort[] {
  const local = "127.0.0.1";
  const address = settings.SEALOOP_BIND;
  const port = (
    title: string,
    setting: WantedPort["setting"],
    address: string,
    instead?: string,
  ) => ({ title, setting, port: settings[setting as "SEALOOP_MCP_PORT"], address, instead });
  return [
    port("Gateway", "SEALOOP_GATEWAY_PORT", address),
    port("Tool server", "SEALOOP_MCP_PORT", address),
    port("Ledger", "SEALOOP_LEDGER_PORT", address),
    ...settings.SEALOOP_ENGINE_URL ? [] : [
      port("Engine", "SEALOOP_ENGINE_PORT", local, "or SEALOOP_ENGINE_URL to use one elsewhere"),
    ],
    ...settings.DATABASE_URL ? [] : [
      port("PostgreSQL", "SEALOOP_POSTGRES_PORT", local, "or DATABASE_URL to use that server"),
    ],
    ...usesOwnTemporal(env) ? [] : [
      port("Temporal", "SEALOOP_TEMPORAL_PORT", local, "or TEMPORAL_ADDRESS to use that server"),
      port("Temporal UI", "SEALOOP_TEMPORAL_UI_PORT", local),
    ],
  ];
}

/** Resolves with the reason when a person, the system, or the npm that runs us wants us to stop. */
function untilAsked(tree: Tree): Promise<string> {
  return new Promise((resolve) => {
    let asked = false;
    for (const name of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(name, () => {
        if (asked) tree.forceStop();
        asked = true;
        resolve(name);
      });
    }
    watchNpm(() => resolve("npm has gone"));
  });
}

/** npm puts a shell between itself and us, and neither passes on that it was killed. */
function watchNpm(gone: () => void): void {
  if (!process.env.npm_lifecycle_event) return;
  const shell = process.ppid;
  const npm = parentOf(shell);
  const timer = setInterval(() => {
    if (process.ppid === shell && parentOf(shell) === npm) return;
    clearInterval(timer);
    gone();
  }, PARENT_POLL_MS);
  timer.unref();
}

/** An error for whoever started the platform; one that we did not foresee comes with where it arose. */
function explain(error: unknown): string {
  if (error instanceof EmbeddedError || error instanceof BadSetting) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC") return `The disk is full: ${error.message}`;
  return code ? error.message : error.stack ?? error.message;
}
