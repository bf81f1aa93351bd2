import { z } from "zod";
import {
  buildPortRegistry,
  listPortClaims,
  listSockets,
  type PortEntry,
} from "../../integrations/host/mod.ts";
import type { Caller } from "../../contract/mod.ts";
import { listServicesWithPorts } from "../../store/mod.ts";
import { type Context, operation } from "../../calls/mod.ts";

const Claim = z.object({
  service: z.string().describe("As the graph of services names it"),
  by: z.enum(["setting", "ports", "http", "tcp"])
    .describe("What declares it: a setting, its ports, or its check"),
  setting: z.string().nullable().describe("Setting that gives it; null: none does"),
});
const Conflict = z.object({
  port: z.number().int(),
  kind: z.enum(["declared_twice", "held_by_another", "two_programs"]),
  detail: z.string(),
});
const Port = z.object({
  port: z.number().int(),
  state: z.enum(["listening", "reserved"]).describe("reserved: declared, but nobody listens"),
  declared_by: z.array(Claim).describe("None: it listens undeclared"),
  holder: z.string().nullable().describe("Program that listens, where it can be seen"),
  pid: z.number().int().nullable().describe("Its process; null without a key"),
  addresses: z.array(z.string()).nullable().describe("That it listens on; null without a key"),
  conflict: z.boolean(),
}).meta({ id: "Port" });

/** What a caller may see of a port: its process and addresses are for those with a key. */
function shown(entry: PortEntry, { keyId }: Caller): z.output<typeof Port> {
  const { port, sockets, claims, conflicts } = entry;
  const known = keyId !== null;
  return {
    port,
    state: sockets.length > 0 ? "listening" : "reserved",
    declared_by: claims.map(({ service, by, setting }) => ({ service, by, setting })),
    holder: holderOf(entry),
    pid: known ? sockets[0]?.pid ?? null : null,
    addresses: known ? sockets.map(({ address }) => address) : null,
    conflict: conflicts.length > 0,
  };
}

function holderOf({ sockets }: PortEntry): string | null {
  return [...new Set(sockets.flatMap(({ program }) => program ?? []))].join(" and ") || null;
}

async function registryOf({ config, store }: Context): Promise<PortEntry[]> {
  const [services, sockets] = await Promise.all([
    listServicesWithPorts(store.asPlatform()),
    listSockets(),
  ]);
  return buildPortRegistry(listPortClaims(config, services), sockets);
}

/** Declared ports beside those really listening. */
export const ports = operation({
  name: "ports.list",
  group: "core",
  summary: "List declared and listening ports of this host, with conflicts",
  description:
    "Ports are declared by the platform's settings, and by the ports and checks of services on this host. " +
    "Without a key, process ids and addresses are left out.",
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
  async run(_, context) {
    const entries = await registryOf(context);
    return {
      ports: entries.map((entry) => shown(entry, context.caller)),
      conflicts: entries.flatMap(({ conflicts }) => conflicts),
    };
  },
});

/** Whether a port is free. */
export const portCheck = operation({
  name: "ports.check",
  group: "core",
  summary: "Tell whether a port is free, taken, or reserved for a service",
  effect: "read",
  access: "public",
  input: z.object({
    port: z.number().int().min(1024).max(65535)
      .describe("TCP port; those below 1024 are for privileged programs"),
  }),
  output: z.object({
    port: z.number().int(),
    available: z.boolean(),
    state: z.enum(["free", "taken", "reserved"])
      .describe("taken: somebody listens; reserved: declared for a service that does not"),
    holder: z.string().nullable().describe("Program that listens, where it can be seen"),
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
  async run({ port }, context) {
    const entry = (await registryOf(context)).find((known) => known.port === port);
    const state = stateOf(entry);
    return {
      port,
      available: state === "free",
      state,
      holder: entry ? holderOf(entry) : null,
      declared_by: entry ? shown(entry, context.caller).declared_by : [],
      conflicts: [...entry?.conflicts ?? []],
      detail: sentence(port, entry),
    };
  },
});

function stateOf(entry: PortEntry | undefined): "free" | "taken" | "reserved" {
  if (!entry) return "free";
  return entry.sockets.length > 0 ? "taken" : "reserved";
}

function sentence(port: number, entry: PortEntry | undefined): string {
  if (!entry) return `Port ${port} is free`;
  const names = [...new Set(entry.claims.map(({ service }) => service))].join(" and ");
  if (entry.sockets.length === 0) return `Port ${port} is reserved for ${names}`;
  const holder = holderOf(entry) ?? "a program that can't be seen from here";
  const other = entry.conflicts.find(({ kind }) => kind === "held_by_another");
  if (other) return other.detail;
  return `Port ${port} is taken by ${holder}${names ? `, for ${names}` : ""}`;
}
