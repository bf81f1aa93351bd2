/** A whole platform for a test: `npm start` in a process of its own, on free ports and with data of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "../config.ts";
import { readJson, type TreeProcess } from "../runtime/embedded/mod.ts";
import { freePort, TEST_DETECTORS } from "./_run.ts";

/** A platform, starting or running. */
export interface TestPlatform {
  readonly process: ChildProcess;
  /** Returns everything that it has printed. */
  readonly output: () => string;
  /** Waits until its output matches. @throws it ended without that; the message has its output */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal and waits for its end. @returns as `ended` */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  /** Resolves at its end with the exit code, or null if a signal ended it. */
  readonly ended: Promise<number | null>;
  /** Returns its processes at this moment. */
  processes(): readonly TreeProcess[];
}

/** Returns settings that keep a platform apart from all others on this machine, and away from the internet. */
export async function platformSettings(dataDir: string): Promise<Record<string, string>> {
  const names = [
    "GATEWAY",
    "MCP",
    "LEDGER",
    "ENGINE",
    "TEMPORAL",
    "TEMPORAL_UI",
    "POSTGRES",
    "MAIL",
  ];
  const ports: [string, string][] = [];
  for (const name of names) ports.push([`SEALOOP_${name}_PORT`, String(await freePort())]);
  return {
    SEALOOP_DATA: dataDir,
    SEALOOP_DETECTORS: TEST_DETECTORS,
    SEALOOP_OTS_CALENDARS: "none",
    SEALOOP_BITCOIN_SOURCES: "none",
    ...Object.fromEntries(ports),
  };
}

/** Starts a platform. Settings in the environment of this run are not passed on. */
export function startPlatform(settings: Readonly<Record<string, string>>): TestPlatform {
  const inherited = Object.entries(process.env)
    .filter(([name]) => !/^(SEALOOP_|OTEL_|DATABASE_URL|TEMPORAL_|npm_)/.test(name));
  const child = spawn(process.execPath, [join(ROOT, "start.mjs")], {
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const append = (chunk: Buffer) => text += chunk.toString();
  child.stdout.on("data", append);
  child.stderr.on("data", append);
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    process: child,
    output: () => text,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const check = () => {
          const match = pattern.exec(text);
          if (match) resolve(match);
          return match;
        };
        if (check()) return;
        child.stdout.on("data", check);
        ended.then(() => check() ?? reject(new Error(`It ended without ${pattern}:\n${text}`)));
      }),
    end: (signal = "SIGTERM") => {
      child.kill(signal);
      return ended;
    },
    processes: () => {
      const path = join(settings.SEALOOP_DATA!, "run.json");
      return (readJson(path) as { processes: TreeProcess[] } | undefined)?.processes ?? [];
    },
  };
}
