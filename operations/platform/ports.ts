import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import type { Caller } from "../../contract/mod.ts";
import {
  buildPortRegistry,
  listPortClaims,
  listSockets,
  type PortEntry,
} from "../../integrations/host/mod.ts";
import { listServicesWithPorts } from "../../store/cmdb/mod.ts";

const Claim = z.object({
  service: z.string().describe("Name in the service graph"),
  by: z.enum(["setting", "ports", "http", "tcp"]).describe(
    "Declared by a setting, by the service's ports, or by its health check (http, tcp)",
  ),
  setting: z.string().nullable().describe("Name of the setting; null: none declares it"),
});
const Conflict = z.object({
  port: z.number().int(),
  kind: z.enum(["declared_twice", "held_by_another", "two_programs"]),
  detail: z.string(),
});
const Port = z.object({
  port: z.number().int(),
  state: z.enum(["listening", "reserved"]).describe("reserved: declared, but nothing listens"),
  declared_by: z.array(Claim).describe("Empty: a program listens on an undeclared port"),
  holder: z.string().nullable().describe("Program that listens, if it can be seen"),
  pid: z.number().int().nullable().describe(
    "Its process id; null for callers without a key, or if it can't be seen",
  ),
  addresses: z.array(z.string()).nullable().describe(
    "Addresses that it listens on; null for callers without a key",
  ),
  conflict: z.boolean(),
}).meta({ id: "Port" });

/** Fields of a port that no program and no service uses. */
const FREE = {
  available: true,
  state: "free" as const,
  holder: null,
  declared_by: [],
  conflicts: [],
};

/** Declared ports and those that programs listen on. */
export const portList = operation({
  name: "ports.list",
  group: "core",
  summary: "List the declared and the listening ports of this host, with conflicts",
  description:
    "Ports are declared by the platform's settings, and by the ports and health checks of services on this host. For " +
    "callers without a key, process ids and addresses are null.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({ ports: z.array(Port), conflicts: z.array(Conflict) }),
  rest: { ports: "GET /v1/ports" },
  example: {
    input: {},
    output: {
      ports: [{
        port: 8080,
        state: "listening",
        declared_by: [
          { service: "gateway", by: "setting", setting: "SEALOOP_GATEWAY_PORT" },
          { service: "billing", by: "ports", setting: null },
        ],
        holder: "node",
        pid: 4711,
        addresses: ["127.0.0.1"],
        conflict: true,
      }],
      conflicts: [{
        port: 8080,
        kind: "declared_twice",
        detail: "Port 8080 is declared for gateway and billing",
      }],
    },
  },
  run: async (_, context) => {
    const entries = await readRegistry(context);
    return {
      ports: entries.map((entry) => toPort(entry, context.caller)),
      conflicts: entries.flatMap(({ conflicts }) => conflicts),
    };
  },
});

/** Availability of one port. */
export const portCheck = operation({
  name: "ports.check",
  group: "core",
  summary: "Check whether a port is free, taken, or reserved for a service",
  effect: "read",
  access: "public",
  input: z.object({
    port: z.number().int().min(1024).max(65535).describe(
      "TCP port; ports below 1024 are for privileged programs",
    ),
  }),
  output: z.object({
    port: z.number().int(),
    available: z.boolean(),
    state: z.enum(["free", "taken", "reserved"]).describe(
      "taken: a program listens; reserved: declared for a service that does not listen",
    ),
    holder: z.string().nullable().describe("Program that listens, if it can be seen"),
    declared_by: z.array(Claim),
    conflicts: z.array(Conflict),
    detail: z.string().describe("The same in a sentence"),
  }),
  rest: { ports_check: "GET /v1/ports/check" },
  example: {
    input: { port: 8080 },
    output: {
      port: 8080,
      available: false,
      state: "taken",
      holder: "node",
      declared_by: [{ service: "gateway", by: "setting", setting: "SEALOOP_GATEWAY_PORT" }],
      conflicts: [],
      detail: "Port 8080 is taken by node, for gateway",
    },
  },
  run: async ({ port }, context) => {
    const entry = (await readRegistry(context)).find((one) => one.port === port);
    if (!entry) return { ...FREE, port, detail: `Port ${port} is free` };
    return {
      port,
      available: false,
      state: entry.sockets.length > 0 ? "taken" as const : "reserved" as const,
      holder: holderOf(entry),
      declared_by: toClaims(entry),
      conflicts: entry.conflicts,
      detail: describeEntry(entry),
    };
  },
});

async function readRegistry({ config, store }: Context): Promise<PortEntry[]> {
  const [services, sockets] = await Promise.all([
    listServicesWithPorts(store.db),
    listSockets(),
  ]);
  return buildPortRegistry(listPortClaims(config, services), sockets);
}

/** Converts an entry as a caller may see it: process and addresses are for callers with a key. */
function toPort(entry: PortEntry, { keyId }: Caller): z.output<typeof Port> {
  const { port, sockets, conflicts } = entry;
  const hasKey = keyId !== null;
  return {
    port,
    state: sockets.length > 0 ? "listening" : "reserved",
    declared_by: toClaims(entry),
    holder: holderOf(entry),
    pid: hasKey ? sockets[0]?.pid ?? null : null,
    addresses: hasKey ? sockets.map(({ address }) => address) : null,
    conflict: conflicts.length > 0,
  };
}

function toClaims({ claims }: PortEntry): z.output<typeof Claim>[] {
  return claims.map(({ service, by, setting }) => ({ service, by, setting }));
}

function holderOf({ sockets }: PortEntry): string | null {
  return [...new Set(sockets.flatMap(({ program }) => program ?? []))].join(" and ") || null;
}

function describeEntry(entry: PortEntry): string {
  const { port, sockets, claims, conflicts } = entry;
  const services = [...new Set(claims.map(({ service }) => service))].join(" and ");
  if (sockets.length === 0) return `Port ${port} is reserved for ${services}`;
  const conflict = conflicts.find(({ kind }) => kind === "held_by_another");
  if (conflict) return conflict.detail;
  const holder = holderOf(entry) ?? "a program that can't be seen from here";
  return `Port ${port} is taken by ${holder}${services ? `, for ${services}` : ""}`;
}
