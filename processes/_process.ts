import { BadSetting, type Config, loadConfig } from "../config.ts";
import { createLog, type Log, STANDARD_ERROR } from "../web/mod.ts";
import type { Role } from "../store/mod.ts";
import { told } from "./_told.ts";

/** What every process of the platform is given to start with. */
export interface Parts {
  readonly config: Config;
  readonly log: Log;
  /**
   * Connection string of a database role, as the environment names it.
   *
   * @throws {BadSetting} it names neither that role's nor a `DATABASE_URL`
   */
  databaseUrl(role: Role): string;
}

/** A process that does its work. */
export interface Running {
  /** URL that it serves, if it serves. */
  readonly address?: string;
  /** Takes nothing new, finishes what it has, closes what it opened. */
  stop(): Promise<void>;
}

/** What a process tells the one that started it, over IPC. */
export type Report = { readonly loaded: true } | {
  readonly ready: true;
  readonly address?: string;
};

/** What the supervisor tells a process that it started with {@linkcode SUPERVISED}. */
export interface Go {
  readonly go: true;
  /** Added to the environment before the configuration is read. */
  readonly env: Readonly<Record<string, string>>;
}

/** Argument of a process that is to load, and to wait for {@linkcode Go} before it starts. */
export const SUPERVISED = "--supervised";

/** Longest that a process takes to stop, milliseconds; after that it ends as it is. */
const STOP_MS = 9_000;

/**
 * Runs a process of the platform to its end: reads the configuration, starts the work, says that it is ready, and stops
 * gracefully on SIGINT, SIGTERM, or when its parent has gone. Whatever goes wrong is one line of its log, and exit 1.
 *
 * ```ts
 * await runProcess("ledger", async ({ config, log, databaseUrl }) => { … return { address, stop }; });
 * ```
 *
 * @param name of the process in its log
 * @param start does the work; it has thrown, or what it gives can be stopped
 * @param output whose standard output it is; the log of a process that talks to a client there goes beside it, and so
 * does, as a plain sentence, what the person can mend who set the client up
 */
export async function runProcess(
  name: string,
  start: (parts: Parts) => Promise<Running>,
  output: "log" | "client" = "log",
): Promise<void> {
  const stopped = untilAsked();
  if (process.argv.includes(SUPERVISED)) {
    const go = await Promise.race([untilGo(), stopped]);
    if (!go) process.exit(0);
    Object.assign(process.env, go.env);
  }
  const config = configuration();
  const to = output === "client" ? STANDARD_ERROR : undefined;
  const log = createLog(name, config.settings.SEALOOP_LOG_LEVEL, to);
  const fail = (error: unknown) => {
    const sentence = output === "client" ? told(error) : undefined;
    if (sentence) process.stderr.write(`${sentence}\n`);
    else log.fatal({ err: error }, error instanceof Error ? error.message : String(error));
    process.exit(1);
  };
  process.on("uncaughtException", fail);
  process.on("unhandledRejection", fail);

  stopped.then(() => {
    setTimeout(() => fail(new Error(`Not stopped within ${STOP_MS / 1000} s`)), STOP_MS).unref();
  });
  try {
    const running = await start({ config, log, databaseUrl: (role) => databaseUrl(config, role) });
    log.info({ address: running.address }, "ready");
    report({ ready: true, address: running.address });
    await stopped;
    log.info("stopping");
    await running.stop();
    log.info("stopped");
  } catch (error) {
    fail(error);
  }
  process.exit(0);
}

function configuration(): Config {
  try {
    return loadConfig(process.env);
  } catch (error) {
    if (!(error instanceof BadSetting)) throw error;
    process.stderr.write(`${error.message}\n`);
    process.exit(1);
  }
}

function databaseUrl({ settings }: Config, role: Role): string {
  const own = {
    owner: undefined,
    app: settings.SEALOOP_DATABASE_APP_URL,
    sequencer: settings.SEALOOP_DATABASE_SEQUENCER_URL,
    ledger: settings.SEALOOP_DATABASE_LEDGER_URL,
  }[role];
  const url = own ?? settings.DATABASE_URL;
  if (url) return url;
  const name = role === "owner" ? "" : `SEALOOP_DATABASE_${role.toUpperCase()}_URL or `;
  throw new BadSetting(`No database to use: set ${name}DATABASE_URL, or use \`npm start\``);
}

/** Resolves when this process is asked to stop, or when the one that started it has gone. */
function untilAsked(): Promise<undefined> {
  return new Promise((resolve) => {
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
      process.on(signal, () => resolve(undefined));
    }
    process.on("disconnect", () => resolve(undefined));
  });
}

function untilGo(): Promise<Go> {
  const message = new Promise<Go>((resolve) => process.once("message", resolve as () => void));
  report({ loaded: true });
  return message;
}

/** The parent may have gone meanwhile, which `disconnect` tells as well. */
function report(report: Report): void {
  process.send?.(report, () => {});
}
