import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { API_VERSION, PRODUCT, SERVICE } from "../../contract/domain/mod.ts";
import { requireReady } from "../../store/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** Name of the service and places of its descriptions. */
export const gatewayInfo = operation({
  name: "gateway.info",
  group: "core",
  summary: "Get the name of this service and the places of its descriptions",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    name: z.string(),
    version: z.string(),
    docs: z.string().describe("Interactive description"),
    redoc: z.string().describe("Reference"),
    openapi: z.string().describe("Machine-readable description"),
    ledger: z.url().describe("Public ledger"),
  }),
  rest: { info: "GET /" },
  governance: { limits: { counted: false } },
  example: {
    input: {},
    output: {
      name: PRODUCT,
      version: API_VERSION,
      docs: "/docs",
      redoc: "/redoc",
      openapi: "/openapi.json",
      ledger: "http://127.0.0.1:8082",
    },
  },
  run: (_, { urls }) =>
    Promise.resolve({
      name: PRODUCT,
      version: API_VERSION,
      docs: "/docs",
      redoc: "/redoc",
      openapi: "/openapi.json",
      ledger: urls.ledger,
    }),
});

/** Readiness of the gateway. */
export const gatewayHealth = operation({
  name: "gateway.health",
  group: "core",
  summary: "Check whether the gateway can serve calls",
  description:
    "200 means that a call would work: the database answers and has the tables of this version. Temporal is not asked: calls " +
    "that need it say so themselves, and `GET /v1/status` probes it.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    status: z.literal("ok"),
    service: z.literal(SERVICE.gateway),
    timestamp: Timestamp,
  }),
  rest: { health: "GET /v1/health" },
  presentation: { errors: ["Unavailable"] },
  governance: { limits: { counted: false } },
  example: {
    input: {},
    output: { status: "ok", service: SERVICE.gateway, timestamp: "2026-07-01T12:00:00.000Z" },
  },
  async run(_, { store }) {
    await requireReady(store);
    return {
      status: "ok" as const,
      service: SERVICE.gateway,
      timestamp: new Date().toISOString(),
    };
  },
});
