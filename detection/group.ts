import { SEVERITIES, worse } from "../domain/mod.ts";
import type { DetectedFinding } from "./findings.ts";
import { Bits } from "./_bits.ts";
import { Walks } from "./_walks.ts";

/** What grouping looks at. */
export type Groupable =
  & Pick<DetectedFinding, "service" | "detector" | "code" | "fingerprint" | "severity">
  & {
    /** Host that it is about; null: none. */
    readonly host: string | null;
    /** False: it is not told of, but may be the cause of what is. Default: true. */
    readonly counts?: boolean;
  };

/** Which service depends on which, and where they are. */
export interface Dependencies {
  /** Service → host, by the names that findings use. */
  readonly hosts: ReadonlyMap<string, string>;
  /** Service → what it depends on. May have cycles. */
  readonly dependsOn: ReadonlyMap<string, readonly string[]>;
}

/** Findings that are one incident. */
export interface FindingGroup<F extends Groupable> {
  /** The likely cause of the others. */
  readonly root: F;
  /** Those nearest to the root first. */
  readonly others: readonly F[];
  /** Of the worst, and critical where a service is down that others fail with. */
  readonly severity: F["severity"];
}

/**
 * Faults that something else isn't the cause of, and that aren't the cause of other ones: an attack, an entry that was
 * changed in the ledger. Each is an incident of its own.
 */
const APART = new Set([
  ...["brute_force", "invalid_users", "break_in_attempt", "login_after_failures", "port_scan"],
  ...["ledger_broken", "new_templates"],
]);
/** Warnings: nothing fails because of them yet. */
const NOT_YET = new Set(["disk_filling", "inodes_filling", "expires_soon"]);
/** What goes with a slow answer of something else, or a busy host. */
const WAITED = new Set(["timeout", "slow", "flapping", "error_rate"]);
/** What is likely to be the cause of what, where both concern one service. */
const DEPTH = ["logs", "service_probes", "platform", "certificates", "host_resources"];

/**
 * Makes one incident of findings that are likely to have one cause.
 *
 * A finding about a service may be caused by one about a service that it depends on, however far away; by what ran out
 * on the host of either; and by a deeper kind of finding about itself. Its root is the deepest of these that nothing
 * else explains. Two roots are two incidents, and what both could have caused goes with the deeper one, so that the
 * repair of neither waits for the other. Of findings in a cycle the worst is the root.
 *
 * The same findings in another order give the same groups.
 *
 * @returns worst first; groups whose root does not count yet are left out
 */
export function groupFindings<F extends Groupable>(
  findings: readonly F[],
  graph: Dependencies,
): FindingGroup<F>[] {
  const all = [...findings].sort(byWeight);
  const field = fieldOf(all, graph);
  const behind = closures(all.map((effect) => causesOf(effect, field)));
  const sizes = behind.map(({ size }) => size);
  const isRoot = all.map((_, one) => isFirst(one, behind));
  const groups = new Map<number, number[]>();
  for (const one of all.keys()) if (isRoot[one]) groups.set(one, []);
  for (const [one, finding] of all.entries()) {
    if (isRoot[one]) continue;
    const candidates = [...behind[one]!].filter((cause) => isRoot[cause]);
    groups.get(deepest(finding, candidates, field))!.push(one);
  }
  return [...groups].filter(([root]) => all[root]!.counts !== false).map(([first, members]) => {
    const root = all[first]!;
    const others = members.filter((one) => all[one]!.counts !== false)
      .sort((a, b) => sizes[a]! - sizes[b]! || a - b).map((one) => all[one]!);
    return { root, others, severity: severityOf(root, others) };
  });
}

/** Findings by their place, so that looking for causes meets only what may be one. */
interface Field {
  readonly all: readonly Groupable[];
  readonly walks: Walks;
  /** By number of service. */
  readonly hosts: readonly (string | undefined)[];
  /** Findings about a service that may be causes, by its number. */
  readonly ofService: readonly (readonly number[])[];
  /** What ran out on a host. */
  readonly ofHost: ReadonlyMap<string, readonly number[]>;
}

/** @param all worst first; from here on a finding is its place there */
function fieldOf(all: readonly Groupable[], { dependsOn, hosts }: Dependencies): Field {
  const walks = new Walks(dependsOn, all.flatMap(({ service }) => service ?? []));
  const ofService = walks.names.map((): number[] => []);
  const ofHost = new Map<string, number[]>();
  for (const [at, { service, host, detector, code }] of all.entries()) {
    if (APART.has(code) || NOT_YET.has(code)) continue;
    if (detector === "logs") continue; // what is logged is a sign of something else
    if (service !== null) ofService[walks.numberOf(service)]!.push(at);
    else if (host !== null && detector === "host_resources") {
      ofHost.set(host, [...ofHost.get(host) ?? [], at]);
    }
  }
  return { all, walks, hosts: walks.names.map((name) => hosts.get(name)), ofService, ofHost };
}

/** What may have caused a finding, directly or not, as far as the graph tells; nothing causes itself. */
function causesOf(effect: Groupable, field: Field): number[] {
  const { all, walks, ofService, ofHost } = field;
  const causes: number[] = [];
  if (effect.service === null || APART.has(effect.code)) return causes;
  if (effect.detector === "host_resources" || effect.detector === "certificates") return causes;
  const may = (cause: number) =>
    WAITED.has(effect.code) || all[cause]!.code !== "slow" && all[cause]!.code !== "load_high";
  const own = rank(effect);
  walks.from(walks.numberOf(effect.service), (service, steps) => {
    for (const cause of ofService[service]!) {
      if (may(cause) && (steps > 0 || rank(all[cause]!) > own)) causes.push(cause);
    }
  });
  for (const host of hostsBehind(effect, field).keys()) {
    for (const cause of ofHost.get(host)!) if (may(cause)) causes.push(cause);
  }
  return causes;
}

/** Hosts on which something ran out, of a finding's service and of all it depends on, with the fewest steps there. */
function hostsBehind({ service, host }: Groupable, { walks, hosts, ofHost }: Field) {
  const steps = new Map<string, number>();
  if (ofHost.size === 0 || service === null) return steps;
  walks.from(walks.numberOf(service), (one, away) => {
    const at = hosts[one] ?? (away === 0 ? host : undefined); // one that is in no graph
    if (at && ofHost.has(at) && !steps.has(at)) steps.set(at, away);
  });
  return steps;
}

/** The deepest of the roots that a finding may go with: it is likelier to be where it began. */
function deepest(effect: Groupable, roots: readonly number[], field: Field): number {
  const { all, walks } = field;
  if (roots.length === 1) return roots[0]!;
  const hosts = hostsBehind(effect, field);
  const services = new Map<number, number>();
  walks.from(walks.numberOf(effect.service!), (service, steps) => services.set(service, steps));
  const depth = (root: number) => {
    const { service, host } = all[root]!;
    const away = service === null ? hosts.get(host!) : services.get(walks.numberOf(service));
    return (away ?? 0) * DEPTH.length + rank(all[root]!);
  };
  return [...roots].sort((a, b) => depth(b) - depth(a) || a - b)[0]!;
}

const rank = ({ detector }: Groupable) => DEPTH.indexOf(detector);

/** Whether nothing explains a finding, or only a cycle of which it is the worst. */
function isFirst(one: number, behind: readonly Bits[]): boolean {
  for (const cause of behind[one]!) {
    if (cause < one || !behind[cause]!.has(one)) return false;
  }
  return true;
}

/** All that is behind each: its causes, their causes, and so on. Of one in a cycle, not itself. */
function closures(causes: readonly (readonly number[])[]): Bits[] {
  const size = (one: number) => causes[one]?.length ?? 0;
  const known: Bits[] = [];
  for (const one of [...causes.keys()].sort((a, b) => size(a) - size(b))) {
    const behind = new Bits(causes.length);
    // The one with the most behind it comes first, and nearly always brings the others along.
    const most = causes[one]!.reduce((so, next) => size(next) > size(so) ? next : so, -1);
    if (known[most]) behind.addAll(known[most]);
    const open = causes[one]!.filter((cause) => !behind.has(cause));
    open.sort((a, b) => size(a) - size(b));
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (behind.has(next)) continue;
      behind.add(next);
      const whole = known[next];
      if (whole) behind.addAll(whole);
      else open.push(...causes[next]!);
    }
    behind.delete(one);
    known[one] = behind;
  }
  return known;
}

function severityOf(root: Groupable, others: readonly Groupable[]): Groupable["severity"] {
  const worst = others.reduce((so, { severity }) => worse(so, severity), root.severity);
  return others.length > 0 && worst === "high" ? "critical" : worst;
}

/** Worst first; by the fingerprint where they weigh the same, so that the order is always the same. */
function byWeight(a: Groupable, b: Groupable): number {
  const severity = SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity);
  return severity || rank(b) - rank(a) || (a.fingerprint < b.fingerprint ? -1 : 1);
}
