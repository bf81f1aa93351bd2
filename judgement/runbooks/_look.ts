import { readdirSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { type HealthCheck, probe } from "../../integrations/host/mod.ts";
import type { HttpClient } from "../../integrations/http/mod.ts";
import { measureUsage, sumFileSizes } from "./_files.ts";
import { checkCommand } from "./commands.ts";
import type { AllowedCommand, Look } from "./schema.ts";

/** Result of a look. */
export interface LookResult {
  /** True: it is as expected. */
  readonly ok: boolean;
  readonly code: string;
}

/** Surroundings of a look. */
export interface LookContext {
  /** Health check of the service. */
  readonly check: HealthCheck | null;
  readonly commands: readonly AllowedCommand[];
  readonly http: HttpClient;
}

/** A look at a figure of this host. */
type FigureLook = Exclude<
  Look,
  { service: unknown } | { http: unknown } | { tcp: unknown } | { command: unknown }
>;

const PAUSE_MS = 100;
const OK: LookResult = { ok: true, code: "ok" };

/**
 * Looks again and again until it is as expected or the time is over. Changes nothing, and never throws. A service must be
 * healthy twice in a row.
 */
export async function lookUntil(
  look: Look,
  context: LookContext,
  timeoutMs: number,
): Promise<LookResult> {
  const deadline = Date.now() + timeoutMs;
  const twice = "service" in look;
  let wasOk = false;
  while (true) {
    const result = await lookOnce(look, context);
    if (result.ok && (wasOk || !twice)) return result;
    if (Date.now() >= deadline) return result.ok ? { ok: false, code: "unsteady" } : result;
    wasOk = result.ok;
    await sleep(Math.min(PAUSE_MS, timeoutMs));
  }
}

async function lookOnce(look: Look, { check, commands, http }: LookContext): Promise<LookResult> {
  if ("service" in look) return check ? await runProbe(check) : { ok: false, code: "no_check" };
  if ("http" in look) return await runProbe({ http: look.http }, http);
  if ("tcp" in look) return await runProbe({ tcp: look.tcp });
  if ("command" in look) {
    const permission = checkCommand({ argv: look.command }, commands);
    if (!permission.allowed) return { ok: false, code: permission.code };
    return await runProbe({ command: [permission.program, ...permission.args] });
  }
  try {
    return measure(look);
  } catch (error) {
    const { code = "no_figure" } = error as NodeJS.ErrnoException;
    return { ok: false, code: code.toLowerCase() };
  }
}

async function runProbe(check: HealthCheck, http?: HttpClient): Promise<LookResult> {
  const { healthy, code } = await probe(check, undefined, http);
  return { ok: healthy, code };
}

function measure(look: FigureLook): LookResult {
  if ("disk" in look) {
    const percent = look.of_bytes === undefined
      ? measureUsage(look.disk).bytes.percent
      : 100 * sumFileSizes(look.disk) / look.of_bytes;
    return below(percent, look.below);
  }
  if ("inodes" in look) return below(measureUsage(look.inodes).inodes.percent, look.below);
  if ("memory_below" in look) {
    return below(percentUsed("MemTotal", "MemAvailable"), look.memory_below);
  }
  if ("swap_below" in look) return below(percentUsed("SwapTotal", "SwapFree"), look.swap_below);
  const zombies = countZombies();
  return zombies < look.zombies_below ? OK : { ok: false, code: `zombies_${zombies}` };
}

function below(percent: number, limit: number): LookResult {
  return percent < limit ? OK : { ok: false, code: `used_${Math.floor(percent)}` };
}

/** @see proc_meminfo(5) */
function percentUsed(total: string, free: string): number {
  const text = readFileSync("/proc/meminfo", "utf8");
  const value = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB$`, "m").exec(text)![1]);
  return value(total) === 0 ? 0 : 100 * (1 - value(free) / value(total));
}

function countZombies(): number {
  return readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && isZombie(pid)).length;
}

/** @see proc_pid_stat(5): the state follows the name, which may contain anything */
function isZombie(pid: string): boolean {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    return text[text.lastIndexOf(")") + 2] === "Z";
  } catch {
    return false;
  }
}
