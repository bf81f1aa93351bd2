import { existsSync } from "node:fs";
import { join } from "node:path";
import { BadSetting, type Config, loadConfig, programPath } from "../../config.ts";
import {
  claimDataFolder,
  EmbeddedError,
  isManagedRunning,
  listManagedRecords,
  type Tree,
} from "../../runtime/embedded/mod.ts";
import { requireSpace } from "./_disk.ts";
import { isDatabaseAway } from "../../contract/mod.ts";
import { bringUpDatabase } from "./_database.ts";
import { userSignInLink } from "../_sign_in.ts";
import { openStore } from "../../store/mod.ts";
import { openPresence, placeId } from "../_presence.ts";
import { reachSettings } from "../_running.ts";
import { waitForStopRequest } from "./_stop_request.ts";
import { printNews } from "./_news.ts";
import type { Supervisor } from "./_supervisor.ts";
import { bringUpTemporal } from "./_temporal.ts";
import { listWantedPorts } from "./_wanted_ports.ts";
import { type Child, openChild } from "./child.ts";
import { checkPorts } from "./ports.ts";
import {
  initialEnvironment,
  type ProcessEntry,
  PROCESSES,
  serverEnvironment,
} from "./process_list.ts";
import { openProgress } from "./progress.ts";

/**
 * Runs the platform until it is asked to stop or cannot go on.
 *
 * @param output shows the progress
 * @returns exit code
 */
export async function runPlatform(
  env: NodeJS.ProcessEnv,
  output: NodeJS.WriteStream,
): Promise<number> {
  const progress = openProgress(output);
  let fail!: (error: unknown) => void;
  const failure = new Promise<never>((_, reject) => fail = reject);
  failure.catch(() => {});
  process.on("uncaughtException", fail).on("unhandledRejection", fail);
  const restarted: Supervisor["restarted"] = [];
  const kept: Supervisor["kept"] = [];
  let tree: Tree | undefined;
  let dataDir: string | undefined;
  let cause: string | undefined;
  try {
    const config = readConfig(env);
    tree = await claimDataFolder(config.dataDir, {
      settings: reachSettings(config.settings),
      onLeftovers(names) {
        progress.line(`  Left over by one that was killed, and stopped: ${names.join(", ")}`);
      },
    });
    dataDir = config.dataDir;
    const stopRequest = waitForStopRequest(tree);
    const place = config.settings.SEALOOP_CONFIG_PLACE;
    const inherited = place === undefined ? env : { ...env, SEALOOP_CONFIG_PLACE: place };
    const supervisor: Supervisor = {
      config,
      env: inherited,
      progress,
      tree,
      restarted,
      kept,
      fail,
    };
    await requireSpace(dataDir);
    await checkPorts(listWantedPorts(supervisor));
    await Promise.race([bringUp(supervisor), stopRequest, failure]);
    const reason = await Promise.race([stopRequest, failure]);
    progress.mute();
    progress.line(`\nStopping: ${reason}`);
  } catch (error) {
    progress.mute();
    cause = explain(error);
    progress.line(`\n${cause}`);
  }
  for (const part of restarted) part.stopRestarting();
  await tree?.stop();
  await tree?.release();
  if (dataDir) { for (const line of describeServices(dataDir)) progress.line(line); }
  const [why] = cause?.trim().replace(/:\n\s*/, ": ").split("\n") ?? []; // whoever looks at the last line sees it
  if (tree) progress.line(why === undefined ? "Stopped" : `Stopped: ${why}`);
  return cause === undefined ? 0 : 1;
}

/** Reads the configuration. Where the database is the one of the data folder, the settings files there are put in force. */
function readConfig(env: NodeJS.ProcessEnv): Config {
  const config = loadConfig(env);
  const { DATABASE_URL, SEALOOP_CONFIG_PLACE } = config.settings;
  if (DATABASE_URL !== undefined || SEALOOP_CONFIG_PLACE !== undefined) return config;
  return loadConfig({ ...env, SEALOOP_CONFIG_PLACE: config.place });
}

/** Describes the services whose processes this platform has run: those that are left running, and those that are not. */
function describeServices(dataDir: string): string[] {
  const records = listManagedRecords(dataDir);
  const running = records.filter(isManagedRunning).map(({ name }) => name);
  const stopped = records.filter((one) => one.stopped === "sealoop" && !isManagedRunning(one))
    .map(({ name }) => name);
  return [
    ...(running.length > 0 ? [`Left running (on_stop: keep): ${running.join(", ")}`] : []),
    ...(stopped.length > 0
      ? [`Stopped, and started again at the next start (on_stop: stop): ${stopped.join(", ")}`]
      : []),
  ];
}

/** Brings up the servers and prepares them while the processes load, then starts these. */
async function bringUp(supervisor: Supervisor): Promise<void> {
  const { config: { dataDir }, progress, kept } = supervisor;
  const children = loadProcesses(supervisor);
  const [urls, temporal] = await Promise.all([
    bringUpDatabase(supervisor),
    bringUpTemporal(supervisor),
  ]);
  const place = { id: placeId(dataDir, "supervisor"), restarts: 0 };
  const presence = openPresence(place, () => kept.flatMap((describe) => describe() ?? []));
  presence.begin("supervisor", { role: "operator", url: urls.operator });
  const addresses = await Promise.all(children.map(async ({ entry, child }) => {
    const address = await progress.step(entry.title, {
      run: () =>
        child.start(serverEnvironment(entry, urls, temporal.env, supervisor.config.settings)),
      describe: (address) => address ? address.replace(/^https?:\/\//, "on ") : "taking work",
    });
    return [entry.name, address] as const;
  }));
  await requireSpace(dataDir);
  presence.ready();
  const { gateway, mcp, ledger } = Object.fromEntries(addresses);
  const operator = openStore(urls.operator, "operator", 1);
  const signIn = await userSignInLink(() => operator, supervisor.config, { recovers: false });
  await operator.close();
  const seconds = (performance.now() / 1000).toFixed(1); // since this process was started
  progress.line(`\nsealoop is ready (${seconds} s)`);
  const adminKey = join(dataDir, "admin.key"); // not where a database was restored
  const places = {
    Console: `${signIn}  (signs you in once, within ten minutes)`,
    Gateway: gateway && `${gateway}  (documentation: ${gateway}/docs)`,
    "Tool server": mcp && `${mcp}/mcp`,
    Ledger: ledger,
    "Temporal UI": temporal.ui,
    "Admin key": existsSync(adminKey) && adminKey,
    Logs: join(dataDir, "logs"),
  };
  for (const [title, place] of Object.entries(places)) {
    if (place) progress.line(`  ${title.padEnd(13)}${place}`);
  }
  printNews(supervisor, urls.operator);
}

/** A process that loads or runs. */
interface LoadedProcess {
  readonly entry: ProcessEntry;
  readonly child: Child;
}

/** Starts loading the processes. */
function loadProcesses({ config, env, tree, restarted, progress }: Supervisor): LoadedProcess[] {
  const isElsewhere = ({ name }: ProcessEntry) =>
    name === "engine" && config.settings.SEALOOP_ENGINE_URL !== undefined;
  return PROCESSES.filter((entry) => !isElsewhere(entry)).map((entry) => {
    const child = openChild({
      name: entry.name,
      title: entry.title,
      program: programPath(`processes/${entry.name}.ts`),
      env: initialEnvironment(entry, env),
      dataDir: config.dataDir,
      tree,
      print: progress.news,
    });
    restarted.push(child);
    return { entry, child };
  });
}

/** Code of PostgreSQL's errors about a full disk. */
const PG_DISK_FULL = "53100";

/** Returns the text of an error for the operator; an unforeseen one with its stack. */
function explain(error: unknown): string {
  if (error instanceof EmbeddedError || error instanceof BadSetting) return error.message;
  if (!(error instanceof Error)) return String(error);
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOSPC" || code === PG_DISK_FULL) return `The disk is full: ${error.message}`;
  if (isDatabaseAway(error)) return `The database does not answer: ${error.message}`;
  return code ? error.message : error.stack ?? error.message;
}
