import { readdir, readFile } from "node:fs/promises";
import { freemem, totalmem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import type { Observation } from "../../contract/domain/mod.ts";
import { NotHad, type Observer } from "./observer.ts";
import { findProcess } from "./_service_process.ts";

/** Between two readings of processor time and memory. */
const SAMPLE_MS = 500;
/** Ticks of a second in `/proc`: USER_HZ is 100 on all of Linux. */
const TICKS = 100;
const MAX_THREADS = 200;
/** Numbers of system calls in which a thread waits, by the machine. @see syscalls(2) */
const WAITS: Readonly<Record<string, { readonly lock: number[]; readonly network: number[] }>> = {
  x64: { lock: [202], network: [0, 7, 23, 42, 43, 45, 47, 232, 270, 271, 281, 288] },
  arm64: { lock: [98], network: [22, 63, 72, 73, 202, 203, 207, 212, 242] },
};

/** Looks at the living process of a service. */
export const processOfService: Observer = {
  name: "process",
  about:
    "Looks at the service's process: age, state, threads and what they wait for, memory and its growth, descriptors beside their limit, processor",
  async observe(subject, context): Promise<Observation[]> {
    const found = await findProcess(subject, context);
    if (!found) return [];
    if (process.platform !== "linux") throw new NotHad("not_linux");
    const { pid, by } = found;
    const before = await readUsage(pid);
    await sleep(SAMPLE_MS);
    const [now, files, limits, threads, group] = await Promise.all([
      readUsage(pid),
      readdir(`/proc/${pid}/fd`).then(({ length }) => length, () => undefined),
      readLimits(pid),
      readThreads(pid),
      readMemoryGroup(pid),
    ]);
    const limit = Math.min(group.limit, limits.memory, totalmem());
    const seconds = SAMPLE_MS / 1_000;
    const figures = {
      pid,
      state: now.state,
      age_s: now.ageSeconds,
      threads: now.threads,
      ...threads,
      rss_mib: toMiB(now.rss),
      memory_limit_mib: toMiB(limit),
      memory_share: share(now.rss, limit),
      memory_growth_mib_s: Math.round(toMiB(now.rss - before.rss) / seconds),
      swap_mib: toMiB(now.swap),
      host_free_mib: toMiB(freemem()),
      cpu_share: share(now.ticks - before.ticks, TICKS * seconds),
      ...(group.kills > 0 ? { memory_kills: group.kills } : {}),
      ...(files === undefined ? {} : {
        open_files: files,
        open_files_limit: limits.files,
        open_files_share: share(files, limits.files),
      }),
    };
    return [{ code: "alive", says: describe(figures, by), figures }];
  },
};

type Figures = Readonly<Record<string, number | string>>;

function describe(figures: Figures, by: string): string {
  const { pid, state, age_s, threads, rss_mib, memory_limit_mib, cpu_share } = figures;
  const { open_files, open_files_limit, lock_waits = 0, network_waits = 0 } = figures;
  const files = open_files === undefined
    ? "its descriptors can't be seen"
    : `${open_files} of ${open_files_limit} descriptors are open`;
  return `Process ${pid} (${by}) is ${age_s} s old and ${state}, with ${threads} threads, of which ` +
    `${lock_waits} wait for locks and ${network_waits} for the network; ${rss_mib} of ` +
    `${memory_limit_mib} MiB of memory are used, ${files}, and it takes ` +
    `${Math.round(100 * Number(cpu_share))} % of a processor.`;
}

/** @see proc_pid_stat(5), proc_pid_status(5) */
async function readUsage(pid: number) {
  const [stat, status, uptime] = await Promise.all(
    [`/proc/${pid}/stat`, `/proc/${pid}/status`, "/proc/uptime"].map((path) =>
      readFile(path, "utf8")
    ),
  );
  const fields = stat!.slice(stat!.lastIndexOf(")") + 2).split(" ");
  const kib = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status!)?.[1] ?? 0);
  const [, state = "unknown"] = /^State:\s+\S+ \((.+)\)/m.exec(status!) ?? [];
  return {
    state,
    threads: Number(fields[17]),
    ticks: Number(fields[11]) + Number(fields[12]),
    ageSeconds: Math.round(Number(uptime!.split(" ")[0]) - Number(fields[19]) / TICKS),
    rss: kib("VmRSS") * 1_024,
    swap: kib("VmSwap") * 1_024,
  };
}

/** Returns limits that the system sets to a process; Infinity: none. @see proc_pid_limits(5) */
async function readLimits(pid: number) {
  const text = await readFile(`/proc/${pid}/limits`, "utf8").catch(() => "");
  const limit = (name: string) => {
    const value = new RegExp(`^${name}\\s+(\\S+)`, "m").exec(text)?.[1];
    return value === undefined || value === "unlimited" ? Infinity : Number(value);
  };
  return {
    files: limit("Max open files"),
    memory: Math.min(limit("Max address space"), limit("Max data size"), limit("Max resident set")),
  };
}

/** Counts threads by what they wait for, as far as the system shows it. @see proc_pid_syscall(5) */
async function readThreads(pid: number) {
  const waits = WAITS[process.arch];
  const ids = await readdir(`/proc/${pid}/task`).catch(() => []);
  if (!waits) return undefined;
  const calls = await Promise.all(
    ids.slice(0, MAX_THREADS).map((id) =>
      readFile(`/proc/${pid}/task/${id}/syscall`, "utf8").then(
        (text) => Number(text.split(" ")[0]),
        () => -1,
      )
    ),
  );
  if (calls.every((call) => call === -1)) return undefined;
  const count = (numbers: readonly number[]) =>
    calls.filter((call) => numbers.includes(call)).length;
  return { lock_waits: count(waits.lock), network_waits: count(waits.network) };
}

/** Returns the limit of the memory of a process's control group, and how often it was enforced by a kill. @see cgroups(7) */
async function readMemoryGroup(pid: number): Promise<{ limit: number; kills: number }> {
  const text = await readFile(`/proc/${pid}/cgroup`, "utf8").catch(() => "");
  const [, path] = /^0::(.*)$/m.exec(text) ?? [];
  if (path === undefined) return { limit: Infinity, kills: 0 };
  const read = (name: string) => readFile(`/sys/fs/cgroup${path}/${name}`, "utf8").catch(() => "");
  const [max, events] = await Promise.all([read("memory.max"), read("memory.events")]);
  return {
    limit: Number(max) || Infinity,
    kills: Number(/^oom_kill (\d+)/m.exec(events)?.[1] ?? 0),
  };
}

const toMiB = (bytes: number) => Math.round(bytes / 1_048_576);
const share = (part: number, whole: number) =>
  Number.isFinite(whole) && whole > 0 ? Math.round(1_000 * part / whole) / 1_000 : 0;
