import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import {
  currentShieldPolicy,
  desiredFirewall,
  firewallDrift,
  readFacts,
} from "../../judgement/shield/mod.ts";
import { listDeviceFacts } from "../../store/devices/mod.ts";
import { exampleSha256, Sha256 } from "./_schemas.ts";

const DeviceRules = z.object({
  device_id: z.string(),
  backend: z.enum(["nft", "iptables"]).nullable().describe("null: the device has not told"),
  observed_sha256: Sha256.nullable().describe("Of all rules in force on the device"),
  drift: z.boolean().nullable().describe(
    "true: the desired rules are not in force; null: not known, or none are desired",
  ),
}).meta({ id: "DeviceFirewall" });

/** Desired and observed rules. */
export const firewallRules = operation({
  name: "shield.firewall_rules",
  group: "shield",
  summary: "Compare the firewalls of devices with the desired rules",
  description:
    "Desired rules are the content of one nft table that the agent owns. They are put in force by the catalogue's script " +
    "`firewall-apply`, which takes them back unless the platform can be reached with them.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: z.object({
    desired_version: z.number().int().min(0).describe("Version of the policy that has them"),
    desired: z.string().nullable().describe("As nft writes them; null: none are desired"),
    devices: z.array(DeviceRules),
  }),
  rest: { shield_firewall_rules: "GET /v1/shield/firewall/rules" },
  example: {
    input: {},
    output: {
      desired_version: 2,
      desired: "chain input { type filter hook input priority filter; policy accept; }\n",
      devices: [{
        device_id: "DEV-1d0f6a2b9c3e",
        backend: "nft",
        observed_sha256: exampleSha256,
        drift: false,
      }],
    },
  },
  run: async (_, { store }) => {
    const [{ version, policy }, devices] = await Promise.all([
      currentShieldPolicy(store.db),
      listDeviceFacts(store.db),
    ]);
    const desired = desiredFirewall(policy, store.tenant);
    return {
      desired_version: version,
      desired: desired ?? null,
      devices: devices.map((device) => {
        const { firewall } = readFacts(device, device.inventory, device.firewall);
        return {
          device_id: device.id,
          backend: firewall?.backend ?? null,
          observed_sha256: firewall?.observed_sha256 ?? null,
          drift: firewallDrift(firewall, desired),
        };
      }),
    };
  },
});
