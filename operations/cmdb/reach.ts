import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { type Caller, describeUnknownName, Problem } from "../../contract/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  EDGE_KINDS,
  findPath,
  getImpact,
  listServiceNames,
  type RelatedService,
} from "../../store/cmdb/mod.ts";

const Name = z.string().min(1).max(100);

const Side = z.object({
  total: z.number().int(),
  by_distance: z.array(z.object({
    distance: z.number().int(),
    services: z.array(z.object({ name: z.string(), type: z.string(), status: z.string() })),
  })).describe("Nearest first; each service once, at its shortest distance"),
});
const Edge = z.object({ source: z.string(), target: z.string(), kind: z.enum(EDGE_KINDS) });

/** Services around a service. */
export const cmdbImpact = operation({
  name: "cmdb.impact",
  group: "cmdb",
  summary: "List the services that a service needs, and those that are affected when it fails",
  description:
    "upstream: what the service needs. downstream: its blast radius, which is what needs it, directly or through others. " +
    "Callers without a key get the numbers of services.",
  effect: "read",
  access: "public",
  input: z.object({
    service: Name.describe("Name of a service"),
    depth: z.number().int().min(1).max(4).default(2).describe("Maximum number of edges to follow"),
  }),
  output: z.object({
    service: z.string(),
    depth: z.number().int(),
    upstream: Side.describe("Services that it needs"),
    downstream: Side.describe("Services that are affected when it fails"),
  }),
  rest: { cmdb_impact: "GET /v1/knowledge-graph/cmdb/impact/{service}" },
  presentation: { errors: ["NotFound"] },
  example: {
    input: { service: "orders", depth: 2 },
    output: {
      service: "orders",
      depth: 2,
      upstream: {
        total: 1,
        by_distance: [{
          distance: 1,
          services: [{ name: "orders-db", type: "database", status: "up" }],
        }],
      },
      downstream: {
        total: 1,
        by_distance: [{
          distance: 1,
          services: [{ name: "billing", type: "web", status: "down" }],
        }],
      },
    },
  },
  run: async ({ service, depth }, { store, caller }) => {
    const impact = await getImpact(store.db, service, depth);
    if (!impact) throw await unknownService(store.db, caller, service);
    const { upstream, downstream } = impact;
    return {
      service,
      depth,
      upstream: groupByDistance(upstream, caller),
      downstream: groupByDistance(downstream, caller),
    };
  },
});

/** The shortest path between two services. */
export const cmdbPath = operation({
  name: "cmdb.path",
  group: "cmdb",
  summary: "Find the shortest path from a service to another one that it needs",
  effect: "read",
  access: "public",
  input: z.object({
    source: Name.describe("The service that needs"),
    target: Name.describe("The service that is needed"),
    max_depth: z.number().int().min(1).max(8).default(4).describe(
      "Maximum number of edges of the path",
    ),
  }),
  output: z.object({
    source: z.string(),
    target: z.string(),
    max_depth: z.number().int(),
    found: z.boolean(),
    length: z.number().int().nullable().describe("Number of edges; null: there is no path"),
    path: z.array(z.string()).describe(
      "Services on the path, with both ends; empty for callers without a key",
    ),
    edges: z.array(Edge),
    detail: z.string().describe(
      "The same in a sentence; names a path in the other direction where there is only that",
    ),
  }),
  rest: { cmdb_path: "GET /v1/knowledge-graph/cmdb/path" },
  presentation: { errors: ["NotFound"] },
  example: {
    input: { source: "billing", target: "orders-db" },
    output: {
      source: "billing",
      target: "orders-db",
      max_depth: 4,
      found: true,
      length: 2,
      path: ["billing", "orders", "orders-db"],
      edges: [
        { source: "billing", target: "orders", kind: "depends_on" },
        { source: "orders", target: "orders-db", kind: "stores_in" },
      ],
      detail: "billing needs orders-db over 2 edges",
    },
  },
  run: async ({ source, target, max_depth }, { store, caller }) => {
    const db = store.db;
    const names = new Set(await listServiceNames(db, [source, target]));
    for (const name of [source, target]) {
      if (!names.has(name)) throw await unknownService(db, caller, name);
    }
    const edges = await findPath(db, source, target, max_depth);
    if (edges) {
      const path = [source, ...edges.map(({ target }) => target)];
      const detail = source === target
        ? `${source} is the same service`
        : `${source} needs ${target} over ${edgeCount(edges.length)}`;
      const way = caller.keyId === null ? { path: [], edges: [] } : { path, edges };
      return { source, target, max_depth, found: true, length: edges.length, ...way, detail };
    }
    const back = await findPath(db, target, source, max_depth);
    const detail = `${source} does not need ${target} over at most ${edgeCount(max_depth)}` +
      (back ? `; ${target} needs ${source} over ${edgeCount(back.length)}` : "");
    return { source, target, max_depth, found: false, length: null, path: [], edges: [], detail };
  },
});

function groupByDistance(
  services: readonly RelatedService[],
  { keyId }: Caller,
): z.output<typeof Side> {
  if (keyId === null) return { total: services.length, by_distance: [] };
  const distances = [...new Set(services.map(({ distance }) => distance))];
  return {
    total: services.length,
    by_distance: distances.map((distance) => ({
      distance,
      services: services.filter((service) => service.distance === distance)
        .map(({ name, type, status }) => ({ name, type, status })),
    })),
  };
}

function edgeCount(count: number): string {
  return count === 1 ? "1 edge" : `${count} edges`;
}

/** Returns the error for an unknown name; for callers with a key, with similar names. */
async function unknownService(db: Db, { keyId }: Caller, name: string): Promise<Problem> {
  const names = keyId === null ? [] : await listServiceNames(db);
  const otherwise = "GET /v1/knowledge-graph/cmdb/query lists all services";
  return new Problem("NotFound", describeUnknownName("service", name, names, otherwise));
}
