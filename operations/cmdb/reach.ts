import { z } from "zod";
import { Problem, similarNames } from "../../contract/mod.ts";
import {
  type Db,
  EDGE_KINDS,
  findPath,
  getImpact,
  listServiceNames,
  type RelatedService,
} from "../../store/mod.ts";
import { operation } from "../../calls/mod.ts";

const Name = z.string().min(1).max(100);

const Side = z.object({
  total: z.number().int(),
  by_distance: z.array(z.object({
    distance: z.number().int(),
    services: z.array(z.object({ name: z.string(), type: z.string(), status: z.string() })),
  })).describe("Nearest first; each service once, at its least distance"),
});

function byDistance(reached: readonly RelatedService[]): z.output<typeof Side> {
  const distances = [...new Set(reached.map(({ distance }) => distance))];
  return {
    total: reached.length,
    by_distance: distances.map((distance) => ({
      distance,
      services: reached.filter((service) => service.distance === distance)
        .map(({ name, type, status }) => ({ name, type, status })),
    })),
  };
}

/** What a service needs, and who is affected when it fails. */
export const cmdbImpact = operation({
  name: "cmdb.impact",
  group: "cmdb",
  summary: "Show what a service needs, and what is affected when it fails",
  description:
    "upstream is what it needs; downstream is its blast radius: what needs it, directly or over others.",
  effect: "read",
  access: "public",
  input: z.object({
    service: Name.describe("Name of a service"),
    depth: z.number().int().min(1).max(4).default(2).describe("Most edges to follow"),
  }),
  output: z.object({
    service: z.string(),
    depth: z.number().int(),
    upstream: Side.describe("What it needs"),
    downstream: Side.describe("What is affected when it fails"),
  }),
  rest: { cmdb_impact: "GET /v1/knowledge-graph/cmdb/impact/{service}" },
  errors: ["NotFound"],
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
  async run({ service, depth }, { store }) {
    const impact = await getImpact(store.asPlatform(), service, depth);
    if (!impact) throw await unknown(store.asPlatform(), service);
    const { upstream, downstream } = impact;
    return {
      service,
      depth,
      upstream: byDistance(upstream),
      downstream: byDistance(downstream),
    };
  },
});

const Edge = z.object({ source: z.string(), target: z.string(), kind: z.enum(EDGE_KINDS) });

/** Over which others a service needs another. */
export const cmdbPath = operation({
  name: "cmdb.path",
  group: "cmdb",
  summary: "Show the shortest way from a service to another that it needs",
  effect: "read",
  access: "public",
  input: z.object({
    source: Name.describe("The service that needs"),
    target: Name.describe("The service that is needed"),
    max_depth: z.number().int().min(1).max(8).default(4).describe("Most edges of the way"),
  }),
  output: z.object({
    source: z.string(),
    target: z.string(),
    max_depth: z.number().int(),
    found: z.boolean(),
    length: z.number().int().nullable().describe("Edges of the way; null: there is none"),
    path: z.array(z.string()).describe("Services on the way, both ends included"),
    edges: z.array(Edge),
    detail: z.string().describe(
      "The same in a sentence; says so where only the other way round there is one",
    ),
  }),
  rest: { cmdb_path: "GET /v1/knowledge-graph/cmdb/path" },
  errors: ["NotFound"],
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
  async run({ source, target, max_depth }, { store }) {
    const names = new Set(await listServiceNames(store.asPlatform(), [source, target]));
    for (const name of [source, target]) {
      if (!names.has(name)) throw await unknown(store.asPlatform(), name);
    }
    const edges = await findPath(store.asPlatform(), source, target, max_depth);
    const about = { source, target, max_depth, found: edges !== undefined };
    if (!edges) {
      const back = await findPath(store.asPlatform(), target, source, max_depth);
      const detail = `${source} does not need ${target} over at most ${edgeCount(max_depth)}` +
        (back ? `; ${target} needs ${source} over ${edgeCount(back.length)}` : "");
      return { ...about, length: null, path: [], edges: [], detail };
    }
    return {
      ...about,
      length: edges.length,
      path: [source, ...edges.map(({ target }) => target)],
      edges,
      detail: source === target
        ? `${source} is the same service`
        : `${source} needs ${target} over ${edgeCount(edges.length)}`,
    };
  },
});

const edgeCount = (n: number) => n === 1 ? "1 edge" : `${n} edges`;

/** The refusal of a name that no service has, with those most like it. */
async function unknown(on: Db, name: string): Promise<Problem> {
  const near = similarNames(name, await listServiceNames(on));
  const advice = near.length > 0
    ? `did you mean ${near.join(", ")}?`
    : "GET /v1/knowledge-graph/cmdb/query lists those there are";
  return new Problem("NotFound", `There is no service ${name}; ${advice}`);
}
