import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { DEVICE_PLATFORMS } from "../../contract/domain/mod.ts";
import { currentShieldPolicy, hashShieldPolicy } from "../../judgement/shield/mod.ts";
import { exampleSha256, Sha256 } from "./_schemas.ts";
import { Severity } from "../schemas/mod.ts";

const Policy = z.object({
  id: z.string(),
  title: z.string(),
  severity: Severity,
  platforms: z.array(z.enum(DEVICE_PLATFORMS)),
  check: z.record(z.string(), z.unknown()).describe("The check and its bounds, as in the file"),
  finding: z.boolean().describe("Whether a fail opens an incident"),
  remedy_script_id: z.string().nullable().describe(
    "Script of the catalogue that the incident's loop may run; null: none",
  ),
}).meta({ id: "ShieldPolicy" });

/** The policies in force. */
export const shieldPolicies = operation({
  name: "shield.policies",
  group: "shield",
  summary: "List the policies that devices are checked by",
  description: "They ship with the platform, or stand in `sealoop.shield.yaml`.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    version: z.number().int().min(0).describe("0: those that ship, as no file was put in force"),
    sha256: Sha256.describe("Of the whole policy's canonical JSON"),
    policies: z.array(Policy),
  }),
  rest: { shield_policies: "GET /v1/shield/policies" },
  example: {
    input: {},
    output: {
      version: 0,
      sha256: exampleSha256,
      policies: [{
        id: "root-accounts",
        title: "Root alone has the user id 0",
        severity: "critical",
        platforms: ["linux", "macos"],
        check: { uid_0: ["root"] },
        finding: true,
        remedy_script_id: null,
      }],
    },
  },
  run: async (_, { store }) => {
    const { version, policy } = await currentShieldPolicy(store.db);
    return { version, sha256: hashShieldPolicy(policy), policies: policy.policies };
  },
});
