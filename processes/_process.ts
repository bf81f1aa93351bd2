import { setTimeout as sleep } from "node:timers/promises";
import { BadSetting, type Config, loadConfig } from "../config.ts";
import type { Role } from "../store/mod.ts";
import { createLog, type Log, STANDARD_ERROR } from "../runtime/web/mod.ts";
import { databaseSetting } from "./_database_setting.ts";
import { serveMonitoring } from "./_monitoring.ts";
import { operatorErrorText } from "./_operator_error.ts";
import { openPresence, type Place, type Presence } from "./_presence.ts";
import { loadRunningConfig } from "./_running.ts";

/** Configuration, log and database access of a process. */
export interface ProcessParts {
  readonly config: Config;
  readonly log: Log;
  /**
   * Returns the connection string of a database role from the settings.
   *
   * @throws {BadSetting} they have none
   */
  databaseUrl(role: Role): string;
}

/** Parts of a process that tells others of itself. */
export interface PresentParts extends ProcessParts {
  readonly presence: Presence;
  /** Shows the operator a line, where this process was started by `npm start`. */
  tellOperator(line: string): void;
  /** Ends this process with a line of its log, as nothing in it can go on. What supervises it starts it again. */
  endProcess(reason: string): void;
}

/** A process that does its work. */
export interface RunningProcess {
  /** URL that it serves, if it serves one. */
  readonly address?: string;
  /** Asks its clients to open no more requests on their connections, while it still answers. */
  retire?(): void;
  /** Takes no new work, finishes what it has begun, and closes what it opened. */
  stop(): Promise<void>;
}

/** Message of a process to the supervisor, over IPC. */
export type Report = { readonly loaded: true } | {
  readonly ready: true;
  readonly address?: string;
} | { readonly line: string };

/** Message of the supervisor to a process that it started with {@linkcode SUPERVISED}. */
export interface StartMessage {
  readonly start: true;
  readonly place: Place;
  /** Added to the environment before the configuration is read. */
  readonly env: Readonly<Record<string, string>>;
}

/** Argument of a process that loads and waits for {@linkcode StartMessage} before it starts. */
export const SUPERVISED = "--supervised";

/** Time that a process has to stop, milliseconds; then it ends as it is. The supervisor kills it after ten seconds. */
const MAX_STOP_MS = 8_000;

/**
 * Runs a process of the platform to its end: reads the configuration, starts the work, reports that it is ready, and stops
 * gracefully on SIGINT, SIGTERM, or when its parent has ended. An error becomes one line of its log, and exit code 1. Once it
 * is asked to stop, it ends in time and with exit code 0, whatever is away.
 *
 * ```ts
 * await runProcess("ledger", async ({ config, log, databaseUrl }) => { … return { address, stop }; });
 * ```
 *
 * @param name of the process in its log
 * @param start starts the work
 * @param output what standard output is for. `client`: for messages to a client; the log goes to standard error, an error
 * that the client's owner can correct is printed there as a plain sentence, and the platform is the one that runs on the data
 * folder, unless the settings say otherwise
 */
export async function runProcess(
  name: string,
  start: (parts: PresentParts) => Promise<RunningProcess>,
  output: "log" | "client" = "log",
): Promise<void> {
  const stopRequest = waitForStopRequest();
  let place: Place | undefined;
  if (process.argv.includes(SUPERVISED)) {
    const message = await Promise.race([waitForStart(), stopRequest]);
    if (!message) process.exit(0);
    Object.assign(process.env, message.env);
    place = message.place;
  }
  const read = readConfig(output === "client" ? loadRunningConfig : loadConfig);
  const config: Config = Object.freeze({ ...read, readsCopies: true });
  const destination = output === "client" ? STANDARD_ERROR : undefined;
  const log = createLog(name, config.settings.SEALOOP_LOG_LEVEL, destination);
  let isStopping = false;
  const fail = (error: unknown) => {
    if (isStopping) return log.warn({ err: error }, "Something failed while stopping");
    const sentence = output === "client" ? operatorErrorText(error) : undefined;
    if (sentence) process.stderr.write(`${sentence}\n`);
    else log.fatal({ err: error }, error instanceof Error ? error.message : String(error));
    process.exit(1);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);

  const presence = openPresence(place);
  const drainMs = place ? 0 : 1_000 * config.settings.SEALOOP_DRAIN_SECONDS;
  stopRequest.then(() => {
    isStopping = true;
    presence.stopping();
    setTimeout(() => {
      log.warn(`Not everything was closed within ${MAX_STOP_MS / 1000} s; ending as it is`);
      process.exit(0);
    }, drainMs + MAX_STOP_MS);
  });
  try {
    const monitoring = await serveMonitoring(name, config, log, presence.unready);
    const starting = start({
      config,
      log,
      databaseUrl: (role) => databaseUrl(config, role),
      presence,
      tellOperator: (line) => report({ line }),
      endProcess: (reason) => fail(new Error(reason)),
    });
    const running = await Promise.race([starting, stopRequest]);
    if (!running) return await end(); // what it waits for may be away for long
    presence.ready();
    log.info({ address: running.address }, "ready");
    report({ ready: true, address: running.address });
    await stopRequest;
    log.info("stopping");
    running.retire?.();
    await sleep(drainMs); // what sends work here sees meanwhile that it should not
    await running.stop();
    await monitoring?.close(0);
  } catch (error) {
    fail(error);
  }
  await end();

  async function end(): Promise<never> {
    await presence.end();
    log.info("stopped");
    process.exit(0);
  }
}

function readConfig(load: typeof loadConfig): Config {
  try {
    return load(process.env);
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

function databaseUrl({ settings }: Config, role: Role): string {
  const name = databaseSetting(role);
  const url = settings[name];
  if (url) return url;
  throw new BadSetting(`No database to use: set ${name}, or use \`npm start\``);
}

/** Resolves when this process is asked to stop, or when the one that started it has ended. */
function waitForStopRequest(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => resolve(undefined));
    }
    process.on("disconnect", () => resolve(undefined));
  });
}

function waitForStart(): Promise<StartMessage> {
  const message = new Promise<StartMessage>((resolve) =>
    process.once("message", resolve as () => void)
  );
  report({ loaded: true });
  return message;
}

/** Sends a message to the parent, if it still runs; its end is noticed by `disconnect`. */
function report(report: Report): void {
  process.send?.(report, () => {});
}
