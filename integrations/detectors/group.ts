import { type DetectedFinding, SEVERITIES, worse } from "../findings.ts";

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
export interface Group<F extends Groupable> {
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
): Group<F>[] {
  const all = [...findings].sort(byWeight);
  const distance = distances(all, graph);
  const causes = new Map(all.map((effect) => [
    effect,
    all.filter((cause) => cause !== effect && explains(cause, effect, distance(effect))),
  ]));
  const reached = closures(all, causes);
  const isRoot = (one: F) => {
    const behind = reached.get(one)!;
    return [...behind].every((cause) => reached.get(cause)!.has(one)) && // nothing explains it, or only a cycle
      all.find((other) => other === one || behind.has(other)) === one; // of which it is the first
  };
  const roots = new Set(all.filter(isRoot));
  const groups = new Map<F, F[]>([...roots].map((root) => [root, []]));
  for (const one of all) {
    if (roots.has(one)) continue;
    const candidates = [...reached.get(one)!].filter((cause) => roots.has(cause));
    const depth = (root: F) => depthOf(root, distance(one));
    const [root] = candidates.sort((a, b) => depth(b) - depth(a) || byWeight(a, b));
    groups.get(root!)!.push(one);
  }
  return [...groups].filter(([root]) => root.counts !== false).map(([root, members]) => {
    const others = members.filter(({ counts }) => counts !== false)
      .sort((a, b) => reached.get(a)!.size - reached.get(b)!.size || byWeight(a, b));
    return { root, others, severity: severityOf(root, others) };
  });
}

/** How far away something is from the service that a finding is about: itself 0, what it depends on 1, … */
interface Reach {
  readonly services: ReadonlyMap<string, number>;
  readonly hosts: ReadonlyMap<string, number>;
}

const NOWHERE: Reach = { services: new Map(), hosts: new Map() };

/** Of all that a service depends on, only what findings are about is kept. */
function distances(
  findings: readonly Groupable[],
  { hosts, dependsOn }: Dependencies,
): (finding: Groupable) => Reach {
  const services = new Set(findings.map(({ service }) => service));
  const ailing = new Set(findings.filter(({ service }) => service === null).map((f) => f.host));
  const known = new Map<string, Reach>();
  return ({ service, host }) => {
    if (service === null) return NOWHERE;
    let reach = known.get(service);
    if (!reach) known.set(service, reach = reachOf(service, host));
    return reach;
  };

  function reachOf(service: string, host: string | null): Reach {
    const near = { services: new Map<string, number>(), hosts: new Map<string, number>() };
    const seen = new Set([service]);
    let level = [service];
    for (let steps = 0; level.length > 0; steps++) {
      const next: string[] = [];
      for (const name of level) {
        if (services.has(name)) near.services.set(name, steps);
        const at = hosts.get(name) ?? (name === service ? host : undefined); // one that is in no graph
        if (at && ailing.has(at) && !near.hosts.has(at)) near.hosts.set(at, steps);
        for (const needed of dependsOn.get(name) ?? []) {
          if (seen.has(needed)) continue;
          seen.add(needed);
          next.push(needed);
        }
      }
      level = next;
    }
    return near;
  }
}

function explains(cause: Groupable, effect: Groupable, { services, hosts }: Reach): boolean {
  if (APART.has(cause.code) || APART.has(effect.code) || NOT_YET.has(cause.code)) return false;
  if (cause.detector === "logs") return false; // what is logged is a sign of something else
  if (effect.detector === "host_resources" || effect.detector === "certificates") return false;
  const waited = cause.code === "slow" || cause.code === "load_high";
  if (waited && !WAITED.has(effect.code)) return false;
  if (cause.service === null) {
    return cause.detector === "host_resources" && cause.host !== null && hosts.has(cause.host);
  }
  if (cause.service === effect.service) return rank(cause) > rank(effect);
  return services.has(cause.service);
}

/** Deeper is likelier to be where it began. */
function depthOf(root: Groupable, { services, hosts }: Reach): number {
  const steps = root.service === null
    ? hosts.get(root.host ?? "") ?? 0
    : services.get(root.service) ?? 0;
  return steps * DEPTH.length + rank(root);
}

const rank = ({ detector }: Groupable) => DEPTH.indexOf(detector);

/** All that is behind each finding: its causes, their causes, and so on. Of one in a cycle, not itself. */
function closures<F>(all: readonly F[], causes: ReadonlyMap<F, readonly F[]>): Map<F, Set<F>> {
  const size = (one: F) => causes.get(one)!.length;
  const fewestFirst = [...all].sort((a, b) => size(a) - size(b));
  const known = new Map<F, Set<F>>();
  for (const one of fewestFirst) {
    const behind = new Set<F>();
    const open = [...causes.get(one)!].sort((a, b) => size(a) - size(b));
    // The one with the most behind it comes first, and nearly always brings the others along.
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (behind.has(next)) continue;
      behind.add(next);
      const whole = known.get(next);
      if (whole) { for (const other of whole) behind.add(other); }
      else open.push(...causes.get(next)!);
    }
    behind.delete(one);
    known.set(one, behind);
  }
  return known;
}

function severityOf(root: Groupable, others: readonly Groupable[]): Groupable["severity"] {
  const worst = others.reduce((so, { severity }) => worse(so, severity), root.severity);
  return others.length > 0 && worst === "high" ? "critical" : worst;
}

/** Worst first; by the fingerprint where they weigh the same, so that the order is always the same. */
function byWeight(a: Groupable, b: Groupable): number {
  const severity = SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity);
  return severity || rank(b) - rank(a) || (a.fingerprint < b.fingerprint ? -1 : 1);
}
