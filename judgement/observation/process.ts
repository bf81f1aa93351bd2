import { readFile } from "node:fs/promises";
import { freemem, totalmem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";
import { type Observation, say, type Text } from "../../contract/domain/mod.ts";
import { countDescriptors, describeLeak, readDescriptors } from "./_descriptors.ts";
import { readTcpTable } from "../../integrations/host/mod.ts";
import { NotHad, type Observer } from "./observer.ts";
import { findProcesses, mayHaveProcess, type ServiceProcess, TICKS } from "./_service_process.ts";
import { listProc, readProc, readProcIfAny } from "./_proc.ts";
import { listOutgoing } from "./_sockets.ts";
import { countWaits, findJavaDeadlock } from "./_threads.ts";

/** Between two readings of processor time and memory. */
const SAMPLE_MS = 300;
/** A younger process may not have met its fault yet. */
const SETTLED_SECONDS = 10;
/** Memory without what it needs to run at all: nothing is exhausted with so little. */
const LITTLE_MEMORY = 60 * 1_048_576;
/** Memory that a process with a limited heap uses outside of it, about. */
const OUTSIDE_OF_HEAP = 40 * 1_048_576;

/** Looks at the living processes of a service. */
export const processOfService: Observer = {
  name: "process",
  about:
    "Looks at the service's process and those it has started: age, state, threads and what they wait for, memory beside its limit and its growth, descriptors beside theirs, processor, connections to others",
  isNear: true,
  applies: mayHaveProcess,
  async observe(subject, context): Promise<Observation[]> {
    const found = await findProcesses(subject, context);
    if (found.length === 0) return [];
    if (process.platform !== "linux") throw new NotHad("not_linux");
    const looks = await Promise.allSettled(found.map(look));
    const seen = looks.flatMap((look) => look.status === "fulfilled" ? [look.value] : []);
    if (seen.length === 0) throw (looks[0] as PromiseRejectedResult).reason;
    return seen; // others have ended meanwhile
  },
};

async function look({ pid, by }: ServiceProcess): Promise<Observation> {
  const before = readUsage(pid);
  await sleep(SAMPLE_MS);
  const now = readUsage(pid);
  const descriptors = readDescriptors(pid);
  const [table, limits, heap, group, deadlock] = await Promise.all([
    readTcpTable(pid),
    readLimits(pid),
    readHeapLimit(pid),
    readMemoryGroup(pid),
    findJavaDeadlock(pid),
  ]);
  const files = countDescriptors(descriptors, table);
  const outgoing = listOutgoing(descriptors, table);
  const waits = await countWaits(pid, outgoing.descriptors);
  const limit = Math.min(group.limit, limits.rss, totalmem());
  const heapUse = Math.max(0, now.anonymous - OUTSIDE_OF_HEAP);
  const shares = [share(now.rss, limit), share(now.space, limits.space), share(heapUse, heap)];
  const peaks = [share(now.peak, limit), share(now.spacePeak, limits.space), ...shares];
  const isLimited = [group.limit, limits.rss, limits.space, heap].some(Number.isFinite);
  const isSettled = now.ageSeconds >= SETTLED_SECONDS;
  const openShare = share(files.open, limits.files);
  const seconds = SAMPLE_MS / 1_000;
  const figures = {
    pid,
    state: now.state,
    age_s: now.ageSeconds,
    threads: now.threads,
    ...waits,
    rss_mib: toMiB(now.rss),
    peak_mib: toMiB(now.peak),
    space_mib: toMiB(now.space),
    memory_limit_mib: toMiB(Math.min(limit, limits.space, heap)),
    memory_share: Math.max(...shares),
    memory_peak_share: Math.max(...peaks),
    memory_spare: isSettled &&
      (isLimited ? Math.max(...peaks) <= 0.5 : now.peak < LITTLE_MEMORY),
    memory_growth_mib_s: Math.round((now.rss - before.rss) / 1_048_576 / seconds),
    swap_mib: toMiB(now.swap),
    host_free_mib: toMiB(freemem()),
    cpu_share: share(now.ticks - before.ticks, TICKS * seconds),
    cpu_demand: share(now.demandNs - before.demandNs, 1e9 * seconds),
    outgoing: outgoing.to.length,
    connecting: outgoing.connecting,
    ...(outgoing.to.length > 0 ? { outgoing_to: outgoing.to.slice(0, 5).join(" ") } : {}),
    ...(group.kills > 0 ? { memory_kills: group.kills } : {}),
    ...(files.open === 0 ? {} : {
      open_files: files.open,
      ...(files.ofOneFile > 1 ? { of_one_file: files.ofOneFile } : {}),
      ...(files.halfClosed > 0 ? { half_closed: files.halfClosed } : {}),
      ...(Number.isFinite(limits.files) ? { open_files_limit: limits.files } : {}),
      open_files_share: openShare,
      files_spare: isSettled && openShare <= 0.6,
    }),
  };
  return {
    code: "alive",
    says: describe(figures, by),
    ...(deadlock ? { text: deadlock } : {}),
    figures,
  };
}

type Figures = Readonly<Record<string, number | string | boolean>>;

function describe(figures: Figures, by: string): Text {
  const { pid, state, age_s, threads, rss_mib, memory_limit_mib, memory_share, cpu_share } =
    figures;
  const { open_files, open_files_limit, lock_waits, answer_waits = 0, outgoing_to } = figures;
  const files = open_files === undefined
    ? say`its descriptors can't be seen`
    : say`${open_files} of ${open_files_limit ?? say`any number of`} descriptors are open${
      describeLeak(figures)
    }`;
  return say`Process ${pid} (${by}) is ${age_s} s old and ${state}, with ${threads} threads, of which ${
    lock_waits === undefined ? "" : say`${lock_waits} wait for locks and `
  }${answer_waits} for an answer; ${rss_mib} MiB of memory are used, ${
    Math.round(100 * Number(memory_share))
  } % of the limit of ${memory_limit_mib} MiB, ${files}, and it takes ${
    Math.round(100 * Number(cpu_share))
  } % of a processor${outgoing_to === undefined ? "" : say`; it is connected to ${outgoing_to}`}.`;
}

/** Returns the time in which the threads of a process ran or waited for a processor. @see kernel.org sched-stats */
function readDemand(pid: number): number {
  const times = listProc(`/proc/${pid}/task`).slice(0, 200).map((id) => {
    const text = readProcIfAny(`/proc/${pid}/task/${id}/schedstat`);
    const [ran = 0, waited = 0] = text.split(" ").map(Number);
    return ran + waited;
  });
  return times.reduce((sum, time) => sum + time, 0);
}

/** @see proc_pid_stat(5), proc_pid_status(5) */
function readUsage(pid: number) {
  const demandNs = readDemand(pid);
  const [stat, status, uptime] = [`/proc/${pid}/stat`, `/proc/${pid}/status`, "/proc/uptime"]
    .map(readProc);
  const fields = stat!.slice(stat!.lastIndexOf(")") + 2).split(" ");
  const bytes = (name: string) =>
    1_024 * Number(new RegExp(`^${name}:\\s+(\\d+) kB`, "m").exec(status!)?.[1] ?? 0);
  const [, state = "unknown"] = /^State:\s+\S+ \((.+)\)/m.exec(status!) ?? [];
  return {
    state,
    demandNs,
    threads: Number(fields[17]),
    ticks: Number(fields[11]) + Number(fields[12]),
    ageSeconds: Math.round(Number(uptime!.split(" ")[0]) - Number(fields[19]) / TICKS),
    rss: bytes("VmRSS"),
    anonymous: bytes("RssAnon"),
    peak: bytes("VmHWM"),
    space: bytes("VmSize"),
    spacePeak: bytes("VmPeak"),
    swap: bytes("VmSwap"),
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
    space: limit("Max address space"),
    rss: Math.min(limit("Max data size"), limit("Max resident set")),
  };
}

const UNITS: Readonly<Record<string, number>> = { k: 2 ** 10, m: 2 ** 20, g: 2 ** 30, "": 1 };

/** Returns the limit of the heap that a process of Node or Java was started with; Infinity: none. */
async function readHeapLimit(pid: number): Promise<number> {
  const [args, env] = await Promise.all(
    ["cmdline", "environ"].map((name) => readFile(`/proc/${pid}/${name}`, "utf8").catch(() => "")),
  );
  const options = env!.split("\0").filter((text) =>
    /^(?:NODE_OPTIONS|JAVA_OPTS|JAVA_TOOL_OPTIONS|JDK_JAVA_OPTIONS)=/.test(text)
  ).join(" ");
  const text = `${args!.replaceAll("\0", " ")} ${options}`;
  const [, node] = /--max[-_]old[-_]space[-_]size[= ](\d+)/.exec(text) ?? [];
  if (node) return Number(node) * 2 ** 20;
  const [, java, unit = ""] = /-Xmx(\d+)([kmg]?)\b/i.exec(text) ?? [];
  return java ? Number(java) * UNITS[unit.toLowerCase()]! : Infinity;
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
