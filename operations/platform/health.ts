import { z } from "zod";
import { API_VERSION, PRODUCT, SERVICE } from "../../domain/mod.ts";
import { Timestamp } from "../_shapes.ts";
import { operation } from "../../calls/mod.ts";

/** What the gateway is, and where to read on. */
export const info = operation({
  name: "gateway.info",
  group: "core",
  summary: "Say what this service is and where its descriptions are",
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

/** Liveness: answers as long as the process does. What is behind it is for status. */
export const health = operation({
  name: "gateway.health",
  group: "core",
  summary: "Tell whether the gateway answers",
  description: "Does not look at PostgreSQL or Temporal: `GET /v1/status` does.",
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
