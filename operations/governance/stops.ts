import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { FILE_STOP, FLAG_STOP, listStops } from "../../store/calls/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** Who has set a stop of everything that no command has set. */
const SETTERS: Readonly<Record<string, "file" | "flag">> = {
  [FILE_STOP]: "file",
  [FLAG_STOP]: "flag",
};

/** The stops that are in force. */
export const governanceStops = operation({
  name: "governance.stops",
  group: "console",
  extension: true,
  summary: "List the stops that are in force, oldest first",
  description:
    "A stop of everything is shown to every key; stops of keys and tools to keys of tier admin.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    stops: z.array(z.object({
      kind: z.enum(["all", "key", "tool"]),
      name: z.string().describe("Id of the key, or name of the tool; empty: everything"),
      reason: z.string(),
      by: z.enum(["operator", "flag", "file"]).describe(
        "operator: by npm run governance; flag: by the flag read_only; file: while the policy's file can't be followed",
      ),
      stopped_at: Timestamp,
    })),
  }),
  rest: { governance_stops: "GET /v1/governance/stops" },
  example: {
    input: {},
    output: {
      stops: [{
        kind: "all",
        name: "",
        reason: "The data centre moves",
        by: "flag",
        stopped_at: "2026-07-01T12:00:00.000Z",
      }],
    },
  },
  async run(_, { store, caller }) {
    const stops = await listStops(store.asPlatform());
    return {
      stops: stops.filter(({ kind }) => kind === "all" || caller.tier === "admin").map((
        { kind, name, reason, stopped_at },
      ) => {
        const by = kind === "all" ? SETTERS[name] : undefined;
        return {
          kind,
          name: by ? "" : name,
          reason,
          by: by ?? "operator" as const,
          stopped_at: stopped_at.toISOString(),
        };
      }),
    };
  },
});
