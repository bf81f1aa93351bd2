import { availableParallelism, freemem, loadavg, totalmem } from "node:os";
import { PLATFORM_TENANT, say, type Severity, type Text } from "../../contract/domain/mod.ts";
import { fingerprintFault } from "../../store/mod.ts";
import type { FindingRecord } from "../../store/incidents/mod.ts";
import {
  type DiskUsage,
  listMountPoints,
  measureDisk,
  measureFolder,
  resolveLinks,
} from "./_disks.ts";
import { findAlertFaults, joinAlertFaults } from "./alert_faults.ts";
import { findDeviceFaults, isDeviceFault, recheckDevice } from "./device_faults.ts";
import type {
  DetailedFinding,
  DetectionContext,
  Detector,
  DetectorResult,
  FaultId,
  RecheckResult,
} from "./detector.ts";
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

/** A resource of this host that can run out. */
type Target = DiskTarget | { readonly kind: "memory" } | { readonly kind: "load" };

/** The part of a finding that differs between resources. */
type FindingText = Pick<DetailedFinding, "code" | "severity" | "summary" | "detail">;

/** A fault of a resource, and the aspect that it is about: the same one is the same fault. */
interface Fault {
  readonly aspect: string;
  readonly text: FindingText;
}

const CRITICAL_PERCENT = 99;

/** Measures the resources of this host. */
export const hostResources: Detector = {
  name: "host_resources",
  about:
    "Measures disks, inodes, memory and load of the host that it runs on, and judges what devices report and alerts say",
  ofHost: true,
  ofEveryTenant: true,
  configuration: ({ host_resources: { disks, ...rest } }) => ({ ...rest, disks: disks.length }),

  async detect(context): Promise<DetectorResult> {
    const found: DetailedFinding[] = [];
    const problems = new Set<string>();
    const isOperator = context.store.tenant === PLATFORM_TENANT;
    const targets = isOperator ? await listTargets(context) : []; // the host is the operator's
    for (const target of targets) {
      try {
        found.push(...await measure(target, context));
      } catch (error) {
        const { code = "unknown" } = error as NodeJS.ErrnoException;
        problems.add(`disk_${code.toLowerCase()}`);
      }
    }
    const complete = problems.size === 0;
    const [devices, alerts] = await Promise.all([
      findDeviceFaults(context, "host_resources"),
      findAlertFaults(context, "host_resources"),
    ]);
    if (alerts.problem) problems.add(alerts.problem);
    return {
      probed: targets.length + devices.probed + alerts.probed,
      found: [...joinAlertFaults(found, alerts), ...devices.found],
      problems: [...problems],
      complete,
      hosts: [...devices.hosts, ...alerts.hosts],
      unknown: [...devices.unknown, ...alerts.unknown],
    };
  },

  recheck: recheckHost,
};

async function recheckHost(
  context: DetectionContext,
  { fingerprint, code }: FaultId,
  known: FindingRecord | undefined,
): Promise<RecheckResult> {
  if (!known) return { present: false, code: "unknown_finding" };
  if (isDeviceFault(known)) return await recheckDevice(context, known);
  if (known.target.kind === "alert") return { present: false, code: "no_check" };
  if (known.host !== context.host) return { present: true, code: "other_host" };
  const target = known.target as unknown as Target;
  // The settings may have other bounds by now.
  const configured = (await listTargets(context)).find((one) => nameOf(one) === nameOf(target));
  try {
    const found = await measure(configured ?? target, context);
    const now = found.find((one) => one.fingerprint === fingerprint)?.code ?? "ok";
    // A disk that was full and is filling now has another, lesser fault.
    const hasEased = code.endsWith("_full") && now.endsWith("_filling");
    return { present: now !== "ok" && !hasEased, code: now };
  } catch {
    return { present: false, code: "gone" };
  }
}

async function listTargets(
  { settings: { host_resources: settings } }: DetectionContext,
): Promise<Target[]> {
  const named = settings.disks.map((disk): Target => ({ kind: "disk", ...disk }));
  const covered = new Set(
    await Promise.all(settings.disks.map(({ path }) => resolveLinks(path))),
  );
  const others = settings.every_disk ? await listMountPoints() : [];
  const rest = others.filter((path) => !covered.has(path))
    .map((path): Target => ({ kind: "disk", path }));
  return [...named, ...rest, { kind: "memory" }, { kind: "load" }];
}

function nameOf(target: Target): string {
  return target.kind === "disk" ? target.path : target.kind;
}

/** @throws where a path does not exist */
async function measure(target: Target, context: DetectionContext): Promise<DetailedFinding[]> {
  const { host, store, settings: { host_resources: settings } } = context;
  const faults = target.kind === "memory"
    ? findMemoryFaults(settings, host)
    : target.kind === "load"
    ? findLoadFaults(settings, host)
    : findDiskFaults(target, await measureTarget(target), settings, host);
  return await Promise.all(faults.map(async ({ aspect, text }): Promise<DetailedFinding> => ({
    ...text,
    service: target.kind === "disk" ? target.service ?? null : null,
    detector: "host_resources",
    check: "host",
    fingerprint: await fingerprintFault(store, "host_resources", host, aspect, nameOf(target)),
    observed_at: new Date().toISOString(),
    host,
    lookedAtBy: context.config.place,
    target: { ...target },
  })));
}

async function measureTarget({ path, max_bytes }: DiskTarget): Promise<DiskUsage> {
  return max_bytes === undefined ? await measureDisk(path) : await measureFolder(path, max_bytes);
}

function findDiskFaults(
  target: DiskTarget,
  usage: DiskUsage,
  settings: Settings,
  host: string,
): Fault[] {
  const filling = target.filling_percent ?? settings.filling_percent;
  const full = target.full_percent ?? settings.full_percent;
  const percents = { disk: usage.percent, inodes: usage.inodesPercent };
  return (["disk", "inodes"] as const).flatMap((aspect) => {
    const percent = percents[aspect];
    if (percent === undefined || percent < Math.min(filling, full)) return [];
    const isFull = percent >= full;
    const text: FindingText = {
      code: `${aspect}_${isFull ? "full" : "filling"}`,
      severity: severityOf(percent, isFull),
      summary: describeDisk(target, aspect, percent, host),
      detail: {
        path: target.path,
        percent: Math.round(percent * 10) / 10,
        used_bytes: usage.usedBytes,
        total_bytes: usage.totalBytes,
        free_bytes: usage.freeBytes,
        bound_percent: isFull ? full : filling,
      },
    };
    return [{ aspect, text }];
  });
}

function describeDisk(
  { path, max_bytes }: DiskTarget,
  aspect: "disk" | "inodes",
  percent: number,
  host: string,
): Text {
  const where = say`${path} on ${host} is ${Math.floor(percent)} %`;
  if (aspect === "inodes") return say`The number of inodes of the disk at ${where} used up`;
  return max_bytes === undefined
    ? say`The disk at ${where} full`
    : say`The bound of the folder ${where} used up`;
}

function findMemoryFaults({ memory_percent: bound }: Settings, host: string): Fault[] {
  const total = totalmem();
  const free = freemem(); // on Linux, what is available without swapping
  const percent = 100 * (total - free) / total;
  if (percent < bound) return [];
  const text: FindingText = {
    code: "memory_low",
    severity: severityOf(percent, true),
    summary: say`The memory of ${host} is ${Math.floor(percent)} % used`,
    detail: {
      percent: Math.round(percent * 10) / 10,
      total_bytes: total,
      free_bytes: free,
      bound_percent: bound,
    },
  };
  return [{ aspect: "memory", text }];
}

/** Uses the lowest of the averages of 1, 5 and 15 minutes, so that a short peak is no fault. */
function findLoadFaults({ load_per_core }: Settings, host: string): Fault[] {
  const cores = availableParallelism();
  const bound = load_per_core * cores;
  const averages = loadavg();
  const lowest = Math.min(...averages);
  if (lowest < bound) return [];
  const [load_1m = 0, load_5m = 0, load_15m = 0] = averages;
  const text: FindingText = {
    code: "load_high",
    severity: "medium",
    summary: say`The load of ${host} has been ${
      lowest.toFixed(1)
    } and more on ${cores} cores for a quarter of an hour`,
    detail: { load_1m, load_5m, load_15m, cores, bound },
  };
  return [{ aspect: "load", text }];
}

function severityOf(percent: number, isFull: boolean): Severity {
  if (!isFull) return "medium";
  return percent >= CRITICAL_PERCENT ? "critical" : "high";
}
