import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { describeCheck } from "../../integrations/host/mod.ts";
import { DEVICE_STATUSES, findGraphDevices } from "../../store/devices/mod.ts";
import {
  EDGE_KINDS,
  findServices,
  getCmdbSummary,
  type ServiceMatch,
} from "../../store/cmdb/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

const Counts = z.record(z.string(), z.number().int());
const Dependency = z.object({ service: z.string(), kind: z.enum(EDGE_KINDS) });
const Service = z.object({
  name: z.string(),
  type: z.string(),
  status: z.string().describe("up, down, or unknown: nothing probes it"),
  origin: z.enum(["platform", "file", "test", "discovered"]),
  host: z.string().nullable(),
  owner: z.string().nullable(),
  health_check: z.object({
    kind: z.enum(["http", "tcp", "command"]),
    target: z.string().describe("Address without credentials and query, or name of the program"),
    checked_at: Timestamp.nullable(),
  }).nullable().describe("Null: none"),
  runbook: z.string().nullable().describe("Null: none of its own"),
  ports: z.array(z.number().int()).describe("Declared ports besides that of the health check"),
  needs: z.array(Dependency),
  needed_by: z.array(Dependency),
}).meta({ id: "CmdbService" });

const GraphDevice = z.object({
  device_id: z.string(),
  name: z.string(),
  platform: z.string(),
  status: z.enum(DEVICE_STATUSES),
  addresses: z.array(z.string()).describe("Of its interfaces, as it says"),
  services: z.array(z.string()).describe("Services whose host it is, by its name or an address"),
}).meta({ id: "CmdbDevice" });
/** `service_type` by which devices are found, and services are not. */
const DEVICE_TYPE = "device";

/** Size of the service graph. */
export const cmdbStatus = operation({
  name: "cmdb.status",
  group: "cmdb",
  summary: "Count the services and edges of the service graph",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    services: z.number().int(),
    edges: z.number().int(),
    by_type: Counts,
    by_status: Counts,
    by_origin: Counts.describe("platform, file (declared), discovered (listens on the host), test"),
    by_kind: Counts.describe("Edges by kind"),
    unconnected: z.number().int().describe("Services without any edge"),
    devices: z.number().int().describe("Devices that are enrolled"),
    updated_at: Timestamp.nullable().describe("Last change of a service; null: there is none"),
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
      devices: 2,
      updated_at: "2026-07-01T12:00:00.000Z",
    },
  },
  run: (_, { store }) => getCmdbSummary(store.db),
});

/** Services that match. */
export const cmdbQuery = operation({
  name: "cmdb.query",
  group: "cmdb",
  summary: "Find services and devices by name, host, type or status",
  description:
    "Finds the services of the key's tenant. Callers without a key get the number of the operator's services that match, " +
    "and no service; hosts are not searched for them. Devices have the type `device`, and are found by their addresses, too.",
  effect: "read",
  access: "public",
  input: z.object({
    q: z.string().max(255).optional().describe("Part of the service's name or host; any case"),
    service_type: z.string().max(100).optional().describe(
      "Type: web, database, platform, device, …",
    ),
    status: z.string().max(100).optional().describe(
      "up, down or unknown; of devices: online, late, …",
    ),
    limit: z.number().int().min(1).max(500).default(100).describe(
      "Maximum number of services to return",
    ),
  }),
  output: z.object({
    total: z.number().int().describe("Number of services that match, also beyond the limit"),
    services: z.array(Service),
    devices: z.array(GraphDevice).describe("As many as the limit allows"),
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
      devices: [],
    },
  },
  run: async ({ q, service_type, status, limit }, { store, caller }) => {
    const { total, services } = await findServices(store.db, {
      text: q || undefined,
      type: service_type,
      status,
      hosts: caller.keyId !== null,
      limit,
    });
    if (caller.keyId === null) return { total, services: [], devices: [] };
    const isWanted = service_type === undefined || service_type.toLowerCase() === DEVICE_TYPE;
    const devices = isWanted
      ? await findGraphDevices(store.db, { text: q || undefined, status: status?.toLowerCase() })
      : [];
    return {
      total,
      services: services.map(toService),
      devices: devices.slice(0, limit).map(({ id, ...device }) => ({ device_id: id, ...device })),
    };
  },
});

function toService(service: ServiceMatch) {
  const { name, type, status, origin, host, owner, runbook, needs, neededBy } = service;
  const check = describeCheck(service.check);
  return {
    name,
    type,
    status,
    origin,
    host,
    owner,
    health_check: check && { ...check, checked_at: service.checkedAt?.toISOString() ?? null },
    runbook,
    ports: service.ports.map(({ port }) => port),
    needs,
    needed_by: neededBy,
  };
}
