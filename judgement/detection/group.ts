import { SEVERITIES, type Severity, worse } from "../../contract/domain/mod.ts";
import { BitSet } from "./_bit_set.ts";
import {
  causesOf,
  createIndex,
  type Dependencies,
  type FindingIndex,
  type Groupable,
  layerOf,
  likeliestCause,
} from "./_causes.ts";

/** Findings of one incident. */
export interface FindingGroup<F extends Groupable> {
  /** The probable cause of the others. */
  readonly root: F;
  /** Those nearest to the root first. */
  readonly others: readonly F[];
  /** The worst of all; `critical` where a service is down that others fail with. */
  readonly severity: Severity;
}

/**
 * Groups findings that probably have one cause.
 *
 * A finding about a service may be caused by one about a service that it depends on, directly or not; by a resource that ran
 * out on the host of either; and by a finding of a deeper detector about itself. Of two that are measured, only one that
 * lost at least half as much as the other, in the same way, explains it. A root is a finding that no other explains.
 *
 * Two roots are two incidents, so that no repair waits for the other. A finding that both could have caused goes with the
 * one that weighs more where they are measured in one way (its loss × how unusual that is), or else with the deeper one. Of
 * findings in a cycle the worst is the root.
 *
 * The same findings in another order give the same groups.
 *
 * @returns worst first, without groups whose root does not count yet
 */
export function groupFindings<F extends Groupable>(
  findings: readonly F[],
  graph: Dependencies,
): FindingGroup<F>[] {
  const all = [...findings].sort(byWeight);
  const index = createIndex(all, graph);
  const causes = transitiveCauses(all.map((effect) => causesOf(effect, index)));
  const groups = [...assignToRoots(all, causes, index)]
    .filter(([root]) => all[root]!.counts !== false);
  const depths = causes.map(({ size }) => size);
  return groups.map(([first, members]) => {
    const root = all[first]!;
    const others = members.filter((n) => all[n]!.counts !== false)
      .sort((a, b) => depths[a]! - depths[b]! || a - b).map((n) => all[n]!);
    return { root, others, severity: groupSeverity(root, others) };
  });
}

/** Returns root → members. A finding is its place in `all`. */
function assignToRoots(
  all: readonly Groupable[],
  causes: readonly BitSet[],
  index: FindingIndex,
): Map<number, number[]> {
  const roots = all.map((_, n) => isRoot(n, causes));
  const groups = new Map<number, number[]>();
  for (const n of all.keys()) if (roots[n]) groups.set(n, []);
  for (const [n, finding] of all.entries()) {
    if (roots[n]) continue;
    const candidates = [...causes[n]!].filter((cause) => roots[cause]);
    groups.get(likeliestCause(finding, candidates, index))!.push(n);
  }
  return groups;
}

/** Returns whether nothing explains a finding, or only a cycle of which it is the worst. */
function isRoot(n: number, causes: readonly BitSet[]): boolean {
  for (const cause of causes[n]!) {
    if (cause < n || !causes[cause]!.has(n)) return false;
  }
  return true;
}

/** Adds the causes of causes, and so on. A finding in a cycle is not a cause of itself. */
function transitiveCauses(direct: readonly (readonly number[])[]): BitSet[] {
  const count = (n: number) => direct[n]?.length ?? 0;
  const known: BitSet[] = [];
  for (const n of [...direct.keys()].sort((a, b) => count(a) - count(b))) {
    const causes = new BitSet(direct.length);
    // The one with the most causes comes first: it nearly always includes the others.
    const most = direct[n]!.reduce((best, next) => count(next) > count(best) ? next : best, -1);
    if (known[most]) causes.addAll(known[most]);
    const open = direct[n]!.filter((cause) => !causes.has(cause));
    open.sort((a, b) => count(a) - count(b));
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (causes.has(next)) continue;
      causes.add(next);
      const whole = known[next];
      if (whole) causes.addAll(whole);
      else open.push(...direct[next]!);
    }
    causes.delete(n);
    known[n] = causes;
  }
  return known;
}

function groupSeverity(root: Groupable, others: readonly Groupable[]): Severity {
  const worst = others.reduce((highest, { severity }) => worse(highest, severity), root.severity);
  const reachesOthers = others.some(({ service }) => service !== root.service);
  return reachesOthers && worst === "high" ? "critical" : worst;
}

/** Worst first, of these the most unusual; the fingerprint decides between equals, so that the order is always the same. */
function byWeight(a: Groupable, b: Groupable): number {
  const severity = SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity);
  const score = (b.deviation?.score ?? 0) - (a.deviation?.score ?? 0);
  return severity || layerOf(b) - layerOf(a) || score || (a.fingerprint < b.fingerprint ? -1 : 1);
}
