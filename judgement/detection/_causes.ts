import { type DetectorName, PLACE_AWAY } from "../../contract/domain/mod.ts";
import { type Deviation, explainsDeviation, weighDeviation } from "./_deviation.ts";
import { ServiceGraph } from "./_service_graph.ts";
import type { DetectedFinding } from "./findings.ts";

/** The part of a finding that grouping needs. */
export type Groupable =
  & Pick<DetectedFinding, "service" | "detector" | "code" | "fingerprint" | "severity">
  & {
    /** Host that it is about; null: none. */
    readonly host: string | null;
    /** False: it is not reported, but may be the cause of others. Default: true. */
    readonly counts?: boolean;
    /** How far it is off; absent: it was not measured, or its past is unknown. */
    readonly deviation?: Deviation;
  };

/** Dependencies of services, and their hosts. */
export interface Dependencies {
  /** Service → host, by the names that findings use. */
  readonly hosts: ReadonlyMap<string, string>;
  /** Service → the services that it depends on. May have cycles. */
  readonly dependsOn: ReadonlyMap<string, readonly string[]>;
}

/** Faults that are what somebody does, such as an attack or a changed entry of the ledger. */
const ATTACK_CODES: ReadonlySet<string> = new Set([
  "brute_force",
  "invalid_users",
  "break_in_attempt",
  "login_after_failures",
  "port_scan",
  "ledger_broken",
]);
/** Faults that neither cause others nor are caused by them. Each is an incident of its own. */
const ISOLATED_CODES = new Set([...ATTACK_CODES, "new_templates", PLACE_AWAY]);

/** Returns whether a fault is what somebody does, so that its end leaves the question what was done. */
export function isAttack(code: string): boolean {
  return ATTACK_CODES.has(code);
}

/** Warnings: nothing fails because of them yet. */
const WARNING_CODES = new Set(["disk_filling", "inodes_filling", "expires_soon"]);
/** Faults that a slow dependency or a busy host explains. */
const WAITING_CODES = new Set(["timeout", "slow", "flapping", "error_rate"]);
/** Faults that explain only {@linkcode WAITING_CODES}. */
const SLOWNESS_CODES = new Set(["slow", "load_high"]);
/** Detectors by layer: of two findings about one service, the one of the later detector is the probable cause. */
const LAYERS: readonly DetectorName[] = [
  "logs",
  "service_probes",
  "platform",
  "certificates",
  "host_resources",
];

/** Returns whether a finding about a service explains that services which need it fail. */
export function isFailure(
  { detector, code }: { readonly detector: string; readonly code: string },
): boolean {
  return detector !== "logs" && !ISOLATED_CODES.has(code) && !WARNING_CODES.has(code) &&
    !SLOWNESS_CODES.has(code);
}

/** Findings by their place, so that searching for causes meets only those that may be one. */
export interface FindingIndex {
  readonly all: readonly Groupable[];
  readonly graph: ServiceGraph;
  /** Host by number of the service. */
  readonly hosts: readonly (string | undefined)[];
  /** Findings about a service that may be causes, by its number. */
  readonly ofService: readonly (readonly number[])[];
  /** Findings about resources of a host that ran out. */
  readonly ofHost: ReadonlyMap<string, readonly number[]>;
}

/** Indexes findings. From here on, a finding is its place in `all`. */
export function createIndex(
  all: readonly Groupable[],
  { dependsOn, hosts }: Dependencies,
): FindingIndex {
  const graph = new ServiceGraph(dependsOn, all.flatMap(({ service }) => service ?? []));
  const ofService = graph.names.map((): number[] => []);
  const ofHost = new Map<string, number[]>();
  for (const [n, { service, host, detector, code }] of all.entries()) {
    if (ISOLATED_CODES.has(code) || WARNING_CODES.has(code)) continue;
    if (detector === "logs") continue; // a log shows the signs of another fault
    if (service !== null) ofService[graph.numberOf(service)]!.push(n);
    else if (host !== null && detector === "host_resources") {
      ofHost.set(host, [...ofHost.get(host) ?? [], n]);
    }
  }
  return { all, graph, hosts: graph.names.map((name) => hosts.get(name)), ofService, ofHost };
}

/** Lists the findings that may have caused one, directly or not. Nothing causes itself. */
export function causesOf(effect: Groupable, index: FindingIndex): number[] {
  const { all, graph, ofService, ofHost } = index;
  const causes: number[] = [];
  if (effect.service === null || ISOLATED_CODES.has(effect.code)) return causes;
  if (effect.detector === "host_resources" || effect.detector === "certificates") return causes;
  const waits = WAITING_CODES.has(effect.code);
  const explains = (cause: number) => {
    const { code, deviation } = all[cause]!;
    if (!waits && SLOWNESS_CODES.has(code)) return false;
    return !deviation || !effect.deviation || explainsDeviation(deviation, effect.deviation);
  };
  const layer = layerOf(effect);
  graph.walkFrom(graph.numberOf(effect.service), (service, steps) => {
    for (const cause of ofService[service]!) {
      if (explains(cause) && (steps > 0 || layerOf(all[cause]!) > layer)) causes.push(cause);
    }
  });
  for (const host of exhaustedHosts(effect, index).keys()) {
    for (const cause of ofHost.get(host)!) if (explains(cause)) causes.push(cause);
  }
  return causes;
}

/**
 * Returns the root that a finding goes with: the one that weighs most where all are measured in one way, or else the most
 * distant, as the fault probably began there.
 */
export function likeliestCause(
  effect: Groupable,
  roots: readonly number[],
  index: FindingIndex,
): number {
  const { all, graph } = index;
  if (roots.length === 1) return roots[0]!;
  const deviations = new Map(roots.map((root) => [root, all[root]!.deviation]));
  const kinds = new Set([...deviations.values()].map((deviation) => deviation?.kind));
  if (kinds.size === 1 && !kinds.has(undefined)) {
    const weight = (root: number) => weighDeviation(deviations.get(root)!);
    return [...roots].sort((a, b) => weight(b) - weight(a) || a - b)[0]!;
  }
  const hostSteps = exhaustedHosts(effect, index);
  const serviceSteps = new Map<number, number>();
  graph.walkFrom(graph.numberOf(effect.service!), (service, steps) => {
    serviceSteps.set(service, steps);
  });
  const depth = (root: number) => {
    const { service, host } = all[root]!;
    const steps = service === null
      ? hostSteps.get(host!)
      : serviceSteps.get(graph.numberOf(service));
    return (steps ?? 0) * LAYERS.length + layerOf(all[root]!);
  };
  return [...roots].sort((a, b) => depth(b) - depth(a) || a - b)[0]!;
}

/** Returns the layer of a finding: the higher, the deeper. */
export function layerOf({ detector }: Pick<Groupable, "detector">): number {
  return LAYERS.indexOf(detector);
}

/** Returns the hosts of a finding's service and of its dependencies that lack a resource, with the fewest steps to each. */
function exhaustedHosts(
  { service, host }: Groupable,
  { graph, hosts, ofHost }: FindingIndex,
): Map<string, number> {
  const found = new Map<string, number>();
  if (ofHost.size === 0 || service === null) return found;
  graph.walkFrom(graph.numberOf(service), (current, steps) => {
    const at = hosts[current] ?? (steps === 0 ? host : undefined); // a service outside of the graph
    if (at && ofHost.has(at) && !found.has(at)) found.set(at, steps);
  });
  return found;
}
