import { availableParallelism, freemem, loadavg, totalmem } from "node:os";
import { type FindingRecord, fingerprintFault } from "../store/mod.ts";
import type { DetectedFinding } from "./findings.ts";
import type { Severity } from "../domain/mod.ts";
import { diskUsage, folderUsage, mounts, resolved } from "./_disks.ts";
import type {
  DetailedFinding,
  DetectionContext,
  Detector,
  DetectorResult,
  RecheckResult,
} from "./_detector.ts";
import type { DetectorSettings } from "./settings.ts";

type Settings = DetectorSettings["host_resources"];

/** A file system, or a folder with a bound. */
interface DiskTarget {
  readonly kind: "disk";
  readonly path: string;
  readonly max_bytes?: number;
  readonly service?: string;
  readonly filling_percent?: number;
  readonly full_percent?: number;
}

/** One thing of this host that can run out. */
type Target = DiskTarget | { readonly kind: "memory" } | { readonly kind: "load" };

/** Where it can't be worse than it is. */
const NOTHING_LEFT_PERCENT = 99;

/** Looks at what this host has: disks, inodes, memory, load. */
export const hostResources: Detector = {
  name: "host_resources",
  about: "Measures disks, inodes, memory and load of the host that it runs on",
  ofHost: true,
  configuration: ({ host_resources: { disks, ...rest } }) => ({ ...rest, disks: disks.length }),

  async detect(world): Promise<DetectorResult> {
    const found: DetailedFinding[] = [];
    const problems = new Set<string>();
    const targets = await targetsOf(world);
    for (const target of targets) {
      try {
        found.push(...await measure(target, world));
      } catch (error) {
        problems.add(`disk_${(error as NodeJS.ErrnoException).code?.toLowerCase() ?? "unknown"}`);
      }
    }
    return { probed: targets.length, found, problems: [...problems] };
  },

  async recheck(world, finding, known): Promise<RecheckResult> {
    return await recheckHost(world, finding, await known);
  },
};

async function recheckHost(
  world: DetectionContext,
  { fingerprint, code }: DetectedFinding,
  known: FindingRecord | undefined,
): Promise<RecheckResult> {
  if (!known) return { present: false, code: "unknown_finding" };
  if (known.host !== world.host) return { present: true, code: "other_host" };
  const target = known.target as unknown as Target;
  // As it is configured now: a bound may have been changed meanwhile.
  const configured = (await targetsOf(world)).find((one) => nameOf(one) === nameOf(target));
  try {
    const found = await measure(configured ?? target, world);
    const now = found.find((one) => one.fingerprint === fingerprint)?.code ?? "ok";
    // What was full and is only filling up now is another fault, and a lesser one.
    const eased = code.endsWith("_full") && now.endsWith("_filling");
    return { present: now !== "ok" && !eased, code: now };
  } catch {
    return { present: false, code: "gone" };
  }
}

async function targetsOf(
  { settings: { host_resources: settings } }: DetectionContext,
): Promise<Target[]> {
  const named = settings.disks.map((disk) => ({ kind: "disk" as const, ...disk }));
  const taken = new Set(await Promise.all(settings.disks.map(({ path }) => resolved(path))));
  const others = settings.every_disk ? (await mounts()).map(({ path }) => path) : [];
  const rest = others.filter((path) => !taken.has(path))
    .map((path): Target => ({ kind: "disk", path }));
  return [...named, ...rest, { kind: "memory" }, { kind: "load" }];
}

const nameOf = (target: Target) => target.kind === "disk" ? target.path : target.kind;

/** @throws where a path is not there */
async function measure(
  target: Target,
  { host, settings }: DetectionContext,
): Promise<DetailedFinding[]> {
  const bounds = settings.host_resources;
  const make = (
    what: string,
    { code, severity, summary, detail }: Pick<
      DetailedFinding,
      "code" | "severity" | "summary" | "detail"
    >,
  ): DetailedFinding => ({
    service: target.kind === "disk" ? target.service ?? null : null,
    detector: "host_resources",
    check: "host",
    code,
    fingerprint: fingerprintFault("host_resources", host, what, nameOf(target)),
    severity,
    observed_at: new Date().toISOString(),
    host,
    summary,
    detail,
    target: { ...target },
  });
  if (target.kind === "memory") return memory(bounds, host, make);
  if (target.kind === "load") return load(bounds, host, make);
  const usage = target.max_bytes === undefined
    ? await diskUsage(target.path)
    : await folderUsage(target.path, target.max_bytes);
  const filling = target.filling_percent ?? bounds.filling_percent;
  const full = target.full_percent ?? bounds.full_percent;
  const found: DetailedFinding[] = [];
  const judge = (what: "disk" | "inodes", percent: number) => {
    if (percent < Math.min(filling, full)) return;
    const isFull = percent >= full;
    const whole = what === "inodes"
      ? "The number of inodes of the disk at"
      : target.max_bytes === undefined
      ? "The disk at"
      : "The bound of the folder";
    const used = what === "inodes" || target.max_bytes !== undefined ? "used up" : "full";
    found.push(make(what, {
      code: `${what}_${isFull ? "full" : "filling"}`,
      severity: severityOf(percent, isFull),
      summary: `${whole} ${target.path} on ${host} is ${Math.floor(percent)} % ${used}`,
      detail: {
        path: target.path,
        percent: Math.round(percent * 10) / 10,
        used_bytes: usage.usedBytes,
        total_bytes: usage.totalBytes,
        free_bytes: usage.freeBytes,
        bound_percent: isFull ? full : filling,
      },
    }));
  };
  judge("disk", usage.percent);
  if (usage.inodesPercent !== undefined) judge("inodes", usage.inodesPercent);
  return found;
}

type Make = (
  what: string,
  rest: Pick<DetailedFinding, "code" | "severity" | "summary" | "detail">,
) => DetailedFinding;

function memory({ memory_percent: bound }: Settings, host: string, make: Make): DetailedFinding[] {
  const total = totalmem();
  const free = freemem(); // on Linux, what is available without swapping
  const percent = 100 * (total - free) / total;
  if (percent < bound) return [];
  return [make("memory", {
    code: "memory_low",
    severity: severityOf(percent, true),
    summary: `The memory of ${host} is ${Math.floor(percent)} % used`,
    detail: {
      percent: Math.round(percent * 10) / 10,
      total_bytes: total,
      free_bytes: free,
      bound_percent: bound,
    },
  })];
}

/**
 * By the lowest of the averages of 1, 5 and 15 minutes: it has been that high for a quarter of an hour, and still is. A
 * backup or a build that passes is none of that.
 */
function load({ load_per_core: bound }: Settings, host: string, make: Make): DetailedFinding[] {
  const cores = availableParallelism();
  const averages = loadavg();
  const lowest = Math.min(...averages);
  if (lowest < bound * cores) return [];
  const [load_1m = 0, load_5m = 0, load_15m = 0] = averages;
  return [make("load", {
    code: "load_high",
    severity: "medium",
    summary: `The load of ${host} has been ${lowest.toFixed(1)} and more on ${cores} cores for ` +
      "a quarter of an hour",
    detail: { load_1m, load_5m, load_15m, cores, bound: bound * cores },
  })];
}

function severityOf(percent: number, isFull: boolean): Severity {
  if (!isFull) return "medium";
  return percent >= NOTHING_LEFT_PERCENT ? "critical" : "high";
}
