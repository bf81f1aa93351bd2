import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { API_VERSION, PRODUCT, SERVICE } from "../../domain/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** Name of the service and places of its descriptions. */
export const gatewayInfo = operation({
  name: "gateway.info",
  group: "core",
  summary: "Get the name of this service and the places of its descriptions",
  effect: "read",
  access: "public",
  counted: false,
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

/** Liveness of the gateway's process. */
export const gatewayHealth = operation({
  name: "gateway.health",
  group: "core",
  summary: "Check whether the gateway answers",
  description: "Does not probe PostgreSQL or Temporal; `GET /v1/status` does.",
  effect: "read",
  access: "public",
  counted: false,
  input: z.object({}),
  output: z.object({
    status: z.literal("ok"),
    service: z.literal(SERVICE.gateway),
    timestamp: Timestamp,
  }),
  rest: { health: "GET /v1/health" },
  example: {
    input: {},
    output: { status: "ok", service: SERVICE.gateway, timestamp: "2026-07-01T12:00:00.000Z" },
  },
  run: () =>
    Promise.resolve({
      status: "ok" as const,
      service: SERVICE.gateway,
      timestamp: new Date().toISOString(),
    }),
});
