import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import {
  countChecks,
  judgeDevicesSparingly,
  readAgent,
  shippedShieldPolicy,
} from "../../judgement/shield/mod.ts";
import { CheckCounts } from "./_schemas.ts";

/** Counts how far the devices fulfil the policies. */
export const shieldCompliance = operation({
  name: "shield.compliance",
  group: "shield",
  summary: "Count how far devices fulfil the policies",
  description:
    "A self-assessment from what devices claim. Without a key: of the operator's own devices, and of the policies that " +
    "ship. Offline devices count as unknown once their facts are old.",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    status: z.literal("internal_assessment"),
    score: z.number().int().min(0).describe("Checks that passed"),
    max: z.number().int().min(0).describe("Checks that apply"),
    policies: z.array(CheckCounts.extend({ id: z.string() })),
  }),
  rest: { shield_compliance: "GET /v1/shield/compliance" },
  example: {
    input: {},
    output: {
      status: "internal_assessment",
      score: 21,
      max: 24,
      policies: [{ id: "root-accounts", passed: 3, failed: 0, unknown: 0 }],
    },
  },
  run: async (_, { store, caller }) => {
    const { sha256 } = await readAgent();
    const { policy, devices } = await judgeDevicesSparingly(store, sha256);
    const judged = devices.flatMap((device) => device.judged);
    const { passed, failed, unknown } = countChecks(judged);
    const shipped = new Set(shippedShieldPolicy().policies.map(({ id }) => id));
    const listed = policy.policies.filter(({ id }) => caller.keyId !== null || shipped.has(id));
    return {
      status: "internal_assessment" as const,
      score: passed,
      max: passed + failed + unknown,
      policies: listed.map(({ id }) => ({
        id,
        ...countChecks(judged.filter((one) => one.policy.id === id)),
      })),
    };
  },
});
