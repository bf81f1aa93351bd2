import { execFile } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { promisify } from "node:util";
import { findManagedProcess } from "../../integrations/host/mod.ts";
import { notDone, type StepOutcome } from "./_outcome.ts";

const PRLIMIT = ["/usr/bin/prlimit", "/bin/prlimit"];
const TIMEOUT_MS = 5_000;

/**
 * Raises the soft limit of the descriptors of the process that the platform runs for a service, never above its hard limit.
 * A process that it starts later gets the same. Repeated, it changes nothing. Where the limit is not the platform's to set,
 * it stays.
 */
export async function raiseDescriptors(
  dataDir: string,
  service: string,
  wanted: number,
): Promise<StepOutcome> {
  const managed = findManagedProcess(dataDir, service);
  if (!managed) return { ...notDone("not_ours"), ok: true };
  const program = PRLIMIT.find((path) => existsSync(path));
  if (!program) return { ...notDone("no_program"), ok: true };
  const limits = readDescriptorLimits(managed.pid);
  if (!limits) return notDone("no_limits");
  const { soft, hard } = limits;
  const target = Math.min(wanted, hard);
  const counts = { before: soft, hard };
  if (soft >= target) {
    return { ...notDone(soft >= wanted ? "already_so" : "hard_limit"), ok: true, counts };
  }
  try {
    const args = [`--pid=${managed.pid}`, `--nofile=${target}:`];
    await promisify(execFile)(program, args, { timeout: TIMEOUT_MS });
  } catch {
    return notDone("refused");
  }
  const now = readDescriptorLimits(managed.pid)?.soft;
  if (now === undefined) return notDone("ended_at_once");
  return { state: "done", ok: now >= target, code: "raised", counts: { ...counts, now } };
}

/** @see proc_pid_limits(5) */
function readDescriptorLimits(pid: number): { soft: number; hard: number } | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/limits`, "utf8");
    const [, soft, hard] = /^Max open files\s+(\S+)\s+(\S+)/m.exec(text) ?? [];
    const toNumber = (value: string) => value === "unlimited" ? Infinity : Number(value);
    return soft && hard ? { soft: toNumber(soft), hard: toNumber(hard) } : undefined;
  } catch {
    return undefined;
  }
}
