import { existsSync, readFileSync } from "node:fs";
import { logPath } from "../runtime/embedded/mod.ts";
import type { CompiledPlatform } from "../test/workflows/_compiled.ts";

const SAMPLE_MS = 1_000;
const ERROR_LINE = /"level":"(error|fatal)"|level=error|^\S+ .* (ERROR|FATAL|PANIC):/;

/** Resident memory of servers and processes by name, MiB; PostgreSQL's without that of its connections. */
export interface MemoryWatch {
  /** Returns the memory of now. */
  read(): ReadonlyMap<string, number>;
  /** Ends the watch. @returns the highest values */
  end(): ReadonlyMap<string, number>;
}

/** Watches the memory of a platform. */
export function watchMemory({ processes }: CompiledPlatform): MemoryWatch {
  const highest = new Map<string, number>();
  const read = () => {
    const current = new Map<string, number>();
    for (const [name, pid] of processes()) {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const mib = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      current.set(name, mib);
      highest.set(name, Math.max(mib, highest.get(name) ?? 0));
    }
    return current;
  };
  const timer = setInterval(read, SAMPLE_MS);
  return {
    read,
    end() {
      clearInterval(timer);
      return highest;
    },
  };
}

/** Returns the lines of errors in the platform's logs, by process. */
export function listLogErrors({ dataDir, processes }: CompiledPlatform): Map<string, string[]> {
  return new Map([...processes().keys()].map((name) => {
    const path = logPath(dataDir, name.toLowerCase());
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    return [name, lines.filter((line) => ERROR_LINE.test(line))];
  }));
}
