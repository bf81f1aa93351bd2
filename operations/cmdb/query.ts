import { z } from "zod";
import { describeCheck } from "../../integrations/host/mod.ts";
import type { Caller } from "../../contract/mod.ts";
import { EDGE_KINDS, findServices, getCmdbSummary, type ServiceMatch } from "../../store/mod.ts";
import { Timestamp } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

const Counts = z.record(z.string(), z.number().int());

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
  run: (_, { store }) => getCmdbSummary(store.asPlatform()),
});

const Dependency = z.object({ service: z.string(), kind: z.enum(EDGE_KINDS) });
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
function shown(service: ServiceMatch, { keyId }: Caller): z.output<typeof Service> {
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
    const { total, services } = await findServices(store.asPlatform(), {
      text: q || undefined,
      type: service_type,
      status,
      hosts: caller.keyId !== null,
      limit,
    });
    return { total, services: services.map((service) => shown(service, caller)) };
  },
});
