import { readdirSync, readFileSync } from "node:fs";
import { type HealthCheck, probe } from "../integrations/host/mod.ts";
import { setTimeout as sleep } from "node:timers/promises";
import { checkCommand } from "./commands.ts";
import { bytesBelow, measureUsage } from "./plan.ts";
import type { AllowedCommand, Look } from "./schema.ts";

/** What a look gave. */
export interface LookResult {
  readonly ok: boolean;
  readonly code: string;
}

/** What a look needs to know. */
export interface LookContext {
  /** The service's own check. */
  readonly check: HealthCheck | null;
  readonly commands: readonly AllowedCommand[];
}

const AGAIN_MS = 100;

/** Looks until it is as it should be, or the time is over. Changes nothing, and never throws. */
export async function lookUntil(
  what: Look,
  parts: LookContext,
  withinMs: number,
): Promise<LookResult> {
  const deadline = Date.now() + withinMs;
  const twice = "service" in what;
  let before = false;
  while (true) {
    const seen = await look(what, parts);
    if (seen.ok && (before || !twice)) return seen;
    if (Date.now() >= deadline) return seen.ok ? { ok: false, code: "unsteady" } : seen;
    before = seen.ok;
    await sleep(Math.min(AGAIN_MS, withinMs));
  }
}

/** Looks once. */
export async function look(what: Look, { check, commands }: LookContext): Promise<LookResult> {
  if ("service" in what) return check ? await probed(check) : { ok: false, code: "no_check" };
  if ("http" in what) return await probed({ http: what.http });
  if ("tcp" in what) return await probed({ tcp: what.tcp });
  if ("command" in what) {
    const permission = checkCommand({ argv: what.command }, commands);
    if (!permission.allowed) return { ok: false, code: permission.code };
    return await probed({ command: [permission.program, ...what.command.slice(1)] });
  }
  try {
    return measured(what);
  } catch (error) {
    return {
      ok: false,
      code: ((error as NodeJS.ErrnoException).code ?? "no_figure").toLowerCase(),
    };
  }
}

async function probed(check: HealthCheck): Promise<LookResult> {
  const { healthy, code } = await probe(check);
  return { ok: healthy, code };
}

type Figure = Exclude<
  Look,
  { service: unknown } | { http: unknown } | { tcp: unknown } | { command: unknown }
>;

function measured(what: Figure): LookResult {
  if ("disk" in what) {
    const percent = what.of_bytes === undefined
      ? measureUsage(what.disk).bytes.percent
      : 100 * bytesBelow(what.disk) / what.of_bytes;
    return below(percent, what.below);
  }
  if ("inodes" in what) return below(measureUsage(what.inodes).inodes.percent, what.below);
  if ("memory_below" in what) {
    return below(used("MemTotal", "MemAvailable"), what.memory_below);
  }
  if ("swap_below" in what) return below(used("SwapTotal", "SwapFree"), what.swap_below);
  const ended = zombies();
  return ended < what.zombies_below ? OK : { ok: false, code: `zombies_${ended}` };
}

const OK: LookResult = { ok: true, code: "ok" };

function below(percent: number, limit: number): LookResult {
  return percent < limit ? OK : { ok: false, code: `used_${Math.floor(percent)}` };
}

/** Percent in use. @see proc_meminfo(5) */
function used(total: string, free: string): number {
  const text = readFileSync("/proc/meminfo", "utf8");
  const value = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)![1]);
  return value(total) === 0 ? 0 : 100 * (1 - value(free) / value(total));
}

function zombies(): number {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid)).filter((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, "utf8");
      return text.slice(text.lastIndexOf(")") + 2, text.lastIndexOf(")") + 3) === "Z";
    } catch {
      return false;
    }
  }).length;
}
