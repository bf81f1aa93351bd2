import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { BACKENDS, getPlatformStatus, probePlatform } from "../../judgement/detection/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { FULL, FULL_AND_AUDIT } from "../scopes.ts";

const Probe = z.object({
  ok: z.boolean(),
  elapsed_ms: z.number(),
  detail: z.record(z.string(), z.unknown()).nullable(),
  error: z.string().nullable(),
});
const PlatformStatus = z.object({
  status: z.enum(["ok", "degraded"]),
  timestamp: Timestamp.describe("When the probes ran"),
  cached: z.boolean(),
  backends: z.object({
    postgresql: Probe.describe(
      "`standbys` of its detail receive what is committed; `commit_is_on` is the number of servers that have it on disk " +
        "before a commit returns, the primary among them. Null: the platform may not see that",
    ),
    temporal: Probe,
    ledger: Probe.describe("Not ok while sealing stands still or receipts can't be read"),
    services: Probe.describe("Number of services up, down and unknown, without those of drills"),
    tickets: Probe.describe("Number of tickets open and resolved, without those of drills"),
    engine: Probe,
    governance: Probe.describe("Not ok while the governance policy file is not followed"),
    settings: Probe.describe(
      "Not ok while a settings file is refused: `refused` of its detail has the file, the line, what is wrong, what would be " +
        "right, and what holds meanwhile. Nor while a worker's file differs from what is in force: `drift` has each file, as " +
        "`config_drift`, with the version that stays in force and the id of its place",
    ),
    devices: Probe.describe(
      "Number of the operator's devices by status, the ages of their heartbeats, how many are low on disk, and commands of a day by status",
    ),
    places: Probe.describe(
      "Number of places, and of those `away`: without a worker for `SEALOOP_PLACE_AWAY_SECONDS`. Not ok while one is away",
    ),
  }),
}).meta({ id: "PlatformStatus" });

/** The parts that the operations share. */
const common = {
  group: "core",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: PlatformStatus,
  example: {
    input: {},
    output: {
      status: "ok",
      timestamp: "2026-07-01T12:00:00.000Z",
      cached: false,
      backends: Object.fromEntries(
        BACKENDS.map((name) => [name, { ok: true, elapsed_ms: 1.2, detail: {}, error: null }]),
      ),
    },
  },
} as const;

/** Status that is at most 30 s old. */
export const platformStatus = operation({
  ...common,
  name: "platform.status",
  summary: "Get the status of the platform's parts, at most 30 seconds old",
  rest: { status: "GET /v1/status" },
  tool: { query_uaio_status: FULL },
  presentation: {
    toolGroup: { query_uaio_status: "platform" },
    toolText: {
      query_uaio_status:
        "For whether the platform itself works; what is broken of services, get_platform_briefing names.",
    },
    tell: tellStatus,
  },
  run: (_, context) => getPlatformStatus(context),
});

/** The same under another address, which dashboards poll. */
export const platformStatusLive = operation({
  ...common,
  name: "platform.status_live",
  summary: "Get the same as /v1/status, for polling",
  rest: { status_live: "GET /v1/status/live" },
  run: (_, context) => getPlatformStatus(context),
});

/** Status as of now. */
export const platformStatusFresh = operation({
  ...common,
  name: "platform.status_fresh",
  summary: "Probe the platform's parts now",
  rest: { status_fresh: "GET /v1/status/fresh" },
  tool: { "mission.cluster_health": FULL_AND_AUDIT },
  presentation: {
    toolGroup: { "mission.cluster_health": "audit" },
    toolText: { "mission.cluster_health": "The same as query_uaio_status, measured anew." },
    tell: tellStatus,
  },
  run: (_, context) => probePlatform(context),
});

function tellStatus({ status, timestamp, backends }: z.output<typeof PlatformStatus>): string[] {
  return [
    `The platform is ${status}, as of ${timestamp}.`,
    ...Object.entries(backends).map(([name, { ok, error, detail }]) => {
      const figures = Object.entries(detail ?? {}).filter(([, value]) => typeof value !== "object")
        .map(([what, value]) => `${what} ${value}`);
      const more = error ? [error] : figures;
      return `- ${name} is ${ok ? "ok" : "NOT ok"}${more.length > 0 ? `: ${more.join(", ")}` : ""}`;
    }),
  ];
}
