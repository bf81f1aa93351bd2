import { z } from "zod";
import { type Caller, Problem } from "../contract/mod.ts";
import { describeCheck } from "../integrations/mod.ts";
import {
  cmdbSummary,
  EDGE_KINDS,
  findServices,
  type FoundService,
  impactOf,
  pathBetween,
  type Queryable,
  type Reached,
  serviceNames,
} from "../store/mod.ts";
import { nearNames } from "./_near_names.ts";
import { operation } from "./platform.ts";
import { Timestamp } from "./_shapes.ts";

const Name = z.string().min(1).max(100);
const Counts = z.record(z.string(), z.number().int());
const Kind = z.enum(EDGE_KINDS);

/** How much the graph knows. */
export const cmdbStatus = operation({
  name: "cmdb.status",
  group: "cmdb",
  summary: "Count what the graph of services knows",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    services: z.number().int(),
    edges: z.number().int(),
    by_type: Counts,
    by_status: Counts,
    by_origin: Counts.describe("platform, file (declared), discovered (listens here), test"),
    by_kind: Counts.describe("Edges by kind"),
    unconnected: z.number().int().describe("Services without any edge"),
    updated_at: Timestamp.nullable().describe("When a service last changed; null: there is none"),
  }),
  rest: { cmdb_status: "GET /v1/knowledge-graph/cmdb/status" },
  example: {
    input: {},
    output: {
      services: 9,
      edges: 12,
      by_type: { platform: 7, web: 1, database: 1 },
      by_status: { up: 7, unknown: 2 },
      by_origin: { platform: 7, file: 2 },
      by_kind: { stores_in: 5, connects_to: 6, depends_on: 1 },
      unconnected: 0,
      updated_at: "2026-07-01T12:00:00.000Z",
    },
  },
  run: (_, { store }) => cmdbSummary(store.knex),
});

const Dependency = z.object({ service: z.string(), kind: Kind });
const Service = z.object({
  name: z.string(),
  type: z.string(),
  status: z.string().describe("up, down, or unknown: nobody looks"),
  origin: z.enum(["platform", "file", "test", "discovered"]),
  host: z.string().nullable().describe("Null without a key, but for localhost"),
  owner: z.string().nullable().describe("Null without a key"),
  health_check: z.object({
    kind: z.enum(["http", "tcp", "command"]),
    target: z.string().describe("Address without credentials or query, or the program's name"),
    checked_at: Timestamp.nullable(),
  }).nullable().describe("Null: none, or no key"),
  runbook: z.string().nullable().describe("Null: none of its own, or no key"),
  ports: z.array(z.number().int()).describe("Declared besides that of the check"),
  needs: z.array(Dependency),
  needed_by: z.array(Dependency),
}).meta({ id: "CmdbService" });

/** What a caller may see of a service: where it is, whose it is and how it is looked after is for those with a key. */
function shown(service: FoundService, { keyId }: Caller): z.output<typeof Service> {
  const { name, type, status, origin, host, owner, runbook, needs, neededBy } = service;
  const known = keyId !== null;
  const check = known ? describeCheck(service.check) : null;
  return {
    ...{ name, type, status, origin },
    host: known || host === "localhost" ? host : null,
    owner: known ? owner : null,
    health_check: check && { ...check, checked_at: service.checkedAt?.toISOString() ?? null },
    runbook: known ? runbook : null,
    ports: service.ports.map(({ port }) => port),
    needs: [...needs],
    needed_by: [...neededBy],
  };
}

/** Services by name, host, type and status. */
export const cmdbQuery = operation({
  name: "cmdb.query",
  group: "cmdb",
  summary: "Find services by name, host, type or status",
  description:
    "Without a key, host (but for localhost), owner, health check and runbook are left out, and hosts " +
    "are not searched.",
  effect: "read",
  access: "public",
  input: z.object({
    q: z.string().max(255).optional().describe("Part of the service's name or host; any case"),
    service_type: z.string().max(100).optional().describe("Type: web, database, platform, …"),
    status: z.string().max(100).optional().describe("up, down, unknown"),
    limit: z.number().int().min(1).max(500).default(100).describe("Most services to give"),
  }),
  output: z.object({
    total: z.number().int().describe("How many fit; more than are given where the limit cut"),
    services: z.array(Service),
  }),
  rest: { cmdb_query: "GET /v1/knowledge-graph/cmdb/query" },
  example: {
    input: { q: "bill", limit: 10 },
    output: {
      total: 1,
      services: [{
        name: "billing",
        type: "web",
        status: "up",
        origin: "file",
        host: "localhost",
        owner: "team-payments",
        health_check: {
          kind: "http",
          target: "http://127.0.0.1:9000/health",
          checked_at: "2026-07-01T12:00:00.000Z",
        },
        runbook: "restart-service",
        ports: [],
        needs: [{ service: "orders-db", kind: "stores_in" }],
        needed_by: [],
      }],
    },
  },
  async run({ q, service_type, status, limit }, { store, caller }) {
    const { total, services } = await findServices(store.knex, {
      text: q || undefined,
      type: service_type,
      status,
      hosts: caller.keyId !== null,
      limit,
    });
    return { total, services: services.map((service) => shown(service, caller)) };
  },
});

const Side = z.object({
  total: z.number().int(),
  by_distance: z.array(z.object({
    distance: z.number().int(),
    services: z.array(z.object({ name: z.string(), type: z.string(), status: z.string() })),
  })).describe("Nearest first; each service once, at its least distance"),
});

function byDistance(reached: readonly Reached[]): z.output<typeof Side> {
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
    const impact = await impactOf(store.knex, service, depth);
    if (!impact) throw await unknown(store.knex, service);
    const { upstream, downstream } = impact;
    return {
      service,
      depth,
      upstream: byDistance(upstream),
      downstream: byDistance(downstream),
    };
  },
});

const Edge = z.object({ source: z.string(), target: z.string(), kind: Kind });

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
    const names = new Set(await serviceNames(store.knex, [source, target]));
    for (const name of [source, target]) {
      if (!names.has(name)) throw await unknown(store.knex, name);
    }
    const edges = await pathBetween(store.knex, source, target, max_depth);
    const about = { source, target, max_depth, found: edges !== undefined };
    if (!edges) {
      const back = await pathBetween(store.knex, target, source, max_depth);
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
async function unknown(on: Queryable, name: string): Promise<Problem> {
  const near = nearNames(name, await serviceNames(on));
  const advice = near.length > 0
    ? `did you mean ${near.join(", ")}?`
    : "GET /v1/knowledge-graph/cmdb/query lists those there are";
  return new Problem("NotFound", `There is no service ${name}; ${advice}`);
}
