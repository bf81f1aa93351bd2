import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { countChecks, judgeDevicesSparingly, readAgent } from "../../judgement/shield/mod.ts";
import { getDeviceFigures, getNewestBatchReceipt } from "../../store/devices/mod.ts";
import { FULL } from "../scopes.ts";
import { CheckCounts } from "./_schemas.ts";

const count = (about: string) => z.number().int().min(0).describe(about);

/** Figures about devices. */
export const shieldStats = operation({
  name: "shield.stats",
  group: "shield",
  summary: "Count devices by status, their checks, and the commands of a day",
  description: "Without a key: of the operator's own devices.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    devices: z.object({
      total: count("All that are enrolled"),
      online: count("Those that were heard from; one that is late counts"),
      offline: count("Those that have missed three heartbeats, or were never heard from"),
      quarantined: count("Those that are given no commands until a person decides"),
    }),
    checks: CheckCounts,
    commands_24h: count("Commands that were asked for within a day"),
    last_batch_receipt: z.string().nullable().describe(
      "Newest receipt that devices were heard from; null: none was sealed",
    ),
  }),
  rest: { shield_stats: "GET /v1/shield/stats" },
  tool: { rmm_summary: FULL },
  presentation: { toolGroup: { rmm_summary: "devices" } },
  example: {
    input: {},
    output: {
      devices: { total: 3, online: 2, offline: 1, quarantined: 0 },
      checks: { passed: 21, failed: 1, unknown: 2 },
      commands_24h: 4,
      last_batch_receipt: "6a0bdf7e2c1f3390",
    },
  },
  run: async (_, { store }) => {
    const { sha256: agentSha256 } = await readAgent();
    const [{ by_status, commands_24h }, { devices }, receipt] = await Promise.all([
      getDeviceFigures(store.db),
      judgeDevicesSparingly(store, agentSha256),
      getNewestBatchReceipt(store.db),
    ]);
    const sum = (counts: Readonly<Record<string, number>>) =>
      Object.values(counts).reduce((total, one) => total + one, 0);
    const { online, late, offline, quarantined } = by_status;
    return {
      devices: { total: sum(by_status), online: online + late, offline, quarantined },
      checks: countChecks(devices.flatMap(({ judged }) => judged)),
      commands_24h: sum(commands_24h),
      last_batch_receipt: receipt ?? null,
    };
  },
});
