/** A whole platform of a test: `npm start` in a process of its own, on free ports and with data of its own. */
import { type ChildProcess, spawn } from "node:child_process";
import { freePort, TEST_DETECTORS } from "./_run.ts";
import { once } from "node:events";
import { join } from "node:path";
import { ROOT } from "../config.ts";
import { readJson, type TreeProcess } from "../embedded/mod.ts";

/** A platform that was started. */
export interface TestPlatform {
  readonly process: ChildProcess;
  /** All that it has printed so far. */
  readonly output: () => string;
  /** Waits for it to print something; fails with all that it printed when it ends without. */
  until(pattern: RegExp): Promise<RegExpExecArray>;
  /** Sends a signal and waits for the end. */
  end(signal?: NodeJS.Signals): Promise<number | null>;
  /** Waits for the end; exit code, or null where a signal ended it. */
  readonly ended: Promise<number | null>;
  /** The processes that it has at this moment. */
  processes(): readonly TreeProcess[];
}

/** Settings that keep a platform apart from every other one of this machine. */
export async function platformSettings(dataDir: string): Promise<Record<string, string>> {
  const names = ["GATEWAY", "MCP", "LEDGER", "ENGINE", "TEMPORAL", "TEMPORAL_UI", "POSTGRES"];
  const ports: [string, string][] = [];
  for (const name of names) ports.push([`SEALOOP_${name}_PORT`, String(await freePort())]);
  const nothingOutside = { SEALOOP_OTS_CALENDARS: "none", SEALOOP_BITCOIN_SOURCES: "none" };
  return {
    SEALOOP_DATA: dataDir,
    SEALOOP_DETECTORS: TEST_DETECTORS,
    ...nothingOutside,
    ...Object.fromEntries(ports),
  };
}

/** Starts a platform. What this run's environment says of the platform or of Temporal is not passed on. */
export function startPlatform(settings: Readonly<Record<string, string>>): TestPlatform {
  const inherited = Object.entries(process.env)
    .filter(([name]) => !/^(SEALOOP_|DATABASE_URL|TEMPORAL_|npm_)/.test(name));
  const child = spawn(process.execPath, [join(ROOT, "start.mjs")], {
    env: { ...Object.fromEntries(inherited), ...settings },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let text = "";
  const take = (chunk: Buffer) => text += chunk.toString();
  child.stdout.on("data", take);
  child.stderr.on("data", take);
  const ended = once(child, "close").then(([code]) => code as number | null);
  return {
    process: child,
    output: () => text,
    ended,
    until: (pattern) =>
      new Promise((resolve, reject) => {
        const look = () => {
          const found = pattern.exec(text);
          if (found) resolve(found);
          return found;
        };
        if (look()) return;
        child.stdout.on("data", look);
        ended.then(() => look() ?? reject(new Error(`It ended without ${pattern}:\n${text}`)));
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
