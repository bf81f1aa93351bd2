/** Random graphs of services, and a plain walk over them to compare with. */
import type { Dependency, RelatedService, ServiceRecord } from "../../store/cmdb/mod.ts";

/** Numbers from 0 up to 1 that depend on the seed alone. */
export type Random = () => number;

/** @see https://en.wikipedia.org/wiki/Linear_congruential_generator, the parameters of Numerical Recipes */
export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** A service of a test's file. */
export function serviceNamed(
  name: string,
  needs: readonly (string | Dependency)[] = [],
  more: Partial<ServiceRecord> = {},
): ServiceRecord {
  return {
    name,
    type: "service",
    host: "localhost",
    owner: null,
    origin: "file",
    check: null,
    restart: null,
    watched: true,
    dependsOn: needs.map((need) =>
      typeof need === "string" ? { service: need, kind: "depends_on" } : need
    ),
    ...more,
  };
}

/** Services with so many edges between them, a few of them needed by very many where `hubs` is set. */
export function randomGraph(
  random: Random,
  { services, edges, hubs }: { services: number; edges: number; hubs: boolean },
): ServiceRecord[] {
  const needs = Array.from({ length: services }, () => new Set<number>());
  for (let left = edges; left > 0;) {
    const source = Math.floor(random() * services);
    const target = Math.floor((hubs ? random() ** 3 : random()) * services);
    if (source === target || needs[source]!.has(target)) continue;
    needs[source]!.add(target);
    left--;
  }
  return needs.map((targets, n) => serviceNamed(nameOf(n), [...targets].map(nameOf)));
}

const nameOf = (n: number) => `service-${String(n).padStart(5, "0")}`;

/** Neighbours by name. */
export type Neighbours = ReadonlyMap<string, readonly string[]>;

/** Who needs whom, and who is needed by whom. */
export function neighboursOf(
  services: readonly ServiceRecord[],
): { needs: Neighbours; neededBy: Neighbours } {
  const neededBy = new Map<string, string[]>(services.map(({ name }) => [name, []]));
  for (const { name, dependsOn } of services) {
    for (const { service } of dependsOn) neededBy.get(service)!.push(name);
  }
  const needs = new Map(
    services.map(({ name, dependsOn }) => [name, dependsOn.map(({ service }) => service)] as const),
  );
  return { needs, neededBy };
}

/** Breadth first from a service: name → least number of edges. */
export function distancesFrom(
  start: string,
  along: Neighbours,
  depth: number,
): Map<string, number> {
  const distances = new Map([[start, 0]]);
  const queue = [start];
  for (let name = queue.shift(); name !== undefined; name = queue.shift()) {
    const distance = distances.get(name)!;
    if (distance === depth) continue;
    for (const next of along.get(name)!) {
      if (distances.has(next)) continue;
      distances.set(next, distance + 1);
      queue.push(next);
    }
  }
  distances.delete(start);
  return distances;
}

/** The same shape of what the store gives. */
export function asDistances(reached: readonly RelatedService[]): Map<string, number> {
  return new Map(reached.map(({ name, distance }) => [name, distance]));
}
