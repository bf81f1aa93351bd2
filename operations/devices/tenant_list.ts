import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { getTenantRecord } from "../../store/mod.ts";
import { Device, exampleDevice, readDevices } from "./_device.ts";

/** Devices of one organization. */
export const tenantDeviceList = operation({
  name: "tenants.devices",
  group: "devices",
  summary: "List the devices of an organization, the last enrolled first",
  description: "Your own organization; with a key of tier admin, any.",
  effect: "read",
  access: "key",
  untrusted: true,
  input: z.object({
    org_id: z.string().min(1).max(200).describe("Id of the organization"),
    limit: z.number().int().min(1).max(1_000).default(100).describe(
      "Maximum number of devices to return",
    ),
  }),
  output: z.object({
    org_id: z.string(),
    total: z.number().int(),
    devices: z.array(Device),
  }),
  rest: { tenant_devices: "GET /v1/tenants/{org_id}/devices" },
  errors: ["NotFound"],
  example: {
    input: { org_id: "acme" },
    output: { org_id: "acme", total: 1, devices: [exampleDevice] },
  },
  ownerOf: async ({ org_id }, { store }) => (await getTenantRecord(store.asPlatform(), org_id))?.id,
  run: async ({ org_id, limit }, { store }) => {
    if (org_id !== store.tenant) {
      throw new Problem("NotFound", `There is no organization ${org_id}`);
    }
    const devices = await readDevices(store);
    return { org_id, total: devices.length, devices: devices.slice(0, limit) };
  },
});
