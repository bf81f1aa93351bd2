import { z } from "zod";
import { type ListeningSocket, listeningSockets } from "../integrations/mod.ts";
import type { Config } from "../config.ts";
import { operation } from "./platform.ts";

const Port = z.object({
  port: z.number().int(),
  name: z.string().nullable().describe("Part of the platform it is declared for; null: none"),
  setting: z.string().nullable().describe("Setting that declares it"),
  listening: z.boolean(),
  holder: z.string().nullable().describe("Program that listens, where it can be seen"),
  conflict: z.boolean().describe("True where two parts declare the same port"),
});

/** Ports that the settings give to the platform's own parts. */
function declared({ settings }: Config) {
  return [
    { name: "gateway", setting: "SEALOOP_GATEWAY_PORT", port: settings.SEALOOP_GATEWAY_PORT },
    { name: "tool server", setting: "SEALOOP_MCP_PORT", port: settings.SEALOOP_MCP_PORT },
    { name: "public ledger", setting: "SEALOOP_LEDGER_PORT", port: settings.SEALOOP_LEDGER_PORT },
    { name: "engine", setting: "SEALOOP_ENGINE_PORT", port: settings.SEALOOP_ENGINE_PORT },
    { name: "temporal", setting: "SEALOOP_TEMPORAL_PORT", port: settings.SEALOOP_TEMPORAL_PORT },
    {
      name: "temporal web ui",
      setting: "SEALOOP_TEMPORAL_UI_PORT",
      port: settings.SEALOOP_TEMPORAL_UI_PORT,
    },
    { name: "postgresql", setting: "SEALOOP_POSTGRES_PORT", port: settings.SEALOOP_POSTGRES_PORT },
  ];
}

const holderOf = (socket: ListeningSocket | undefined) => socket?.program ?? null;

/** Declared ports beside those really listening. */
export const ports = operation({
  name: "ports.list",
  group: "core",
  summary: "List declared and listening ports of this host, with conflicts",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({ ports: z.array(Port), conflicts: z.array(z.string()) }),
  rest: { ports: "GET /v1/ports" },
  example: {
    input: {},
    output: {
      ports: [{
        port: 8080,
        name: "gateway",
        setting: "SEALOOP_GATEWAY_PORT",
        listening: true,
        holder: "node",
        conflict: false,
      }],
      conflicts: [],
    },
  },
  run: async (_, { config }) => {
    const sockets = new Map((await listeningSockets()).map((s) => [s.port, s]));
    const ours = declared(config);
    const entries = ours.map(({ name, setting, port }) => ({
      port,
      name,
      setting,
      listening: sockets.has(port),
      holder: holderOf(sockets.get(port)),
      conflict: ours.some((other) => other.port === port && other.name !== name),
    }));
    const others = [...sockets.values()].filter(({ port }) => ours.every((o) => o.port !== port));
    return {
      ports: [
        ...entries,
        ...others.map((socket) => ({
          port: socket.port,
          name: null,
          setting: null,
          listening: true,
          holder: holderOf(socket),
          conflict: false,
        })),
      ].sort((a, b) => a.port - b.port),
      conflicts: entries.filter((e) => e.conflict).map((e) =>
        `${e.setting} gives ${e.name} port ${e.port} twice`
      ),
    };
  },
});

/** Whether a port is free. */
export const portCheck = operation({
  name: "ports.check",
  group: "core",
  summary: "Tell whether a port is free, taken, or reserved for a part of the platform",
  effect: "read",
  access: "public",
  input: z.object({ port: z.number().int().min(1024).max(65535).describe("TCP port") }),
  output: z.object({
    port: z.number().int(),
    available: z.boolean(),
    state: z.enum(["free", "taken", "reserved"]),
    holder: z.string().nullable(),
    reserved_for: z.string().nullable(),
  }),
  rest: { ports_check: "GET /v1/ports/check" },
  example: {
    input: { port: 8080 },
    output: {
      port: 8080,
      available: false,
      state: "taken",
      holder: "node",
      reserved_for: "gateway",
    },
  },
  run: async ({ port }, { config }) => {
    const socket = (await listeningSockets()).find((s) => s.port === port);
    const reservedFor = declared(config).find((d) => d.port === port)?.name ?? null;
    const state = socket ? "taken" as const : reservedFor ? "reserved" as const : "free" as const;
    return {
      port,
      available: state === "free",
      state,
      holder: holderOf(socket),
      reserved_for: reservedFor,
    };
  },
});
