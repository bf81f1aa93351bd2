import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { systemFor, unlessAway } from "../integrations/acts/mod.ts";
import type { FleetHost } from "../../integrations/rmm/mod.ts";
import { getTenantRecord } from "../../store/keys/mod.ts";
import { exampleView, IntegrationView } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";
import { describeStatuses, Device, exampleDevice, readDevices } from "./_device.ts";

/** Devices of a tenant. */
export const deviceList = operation({
  name: "devices.list",
  group: "shield",
  summary: "List devices, with their posture and when they were heard from",
  effect: "read",
  access: "key",
  input: z.object({
    tenant_id: z.string().min(1).max(200).optional().describe(
      "Default: your own. Another one needs a key of tier admin",
    ),
    internal: z.boolean().default(false).describe("True: the platform's own hosts"),
    limit: z.number().int().min(1).max(1_000).default(100).describe(
      "Maximum number of devices to return",
    ),
  }),
  output: z.object({ total: z.number().int(), devices: z.array(Device) }),
  rest: { shield_devices: "GET /v1/shield/devices" },
  presentation: { untrusted: true, errors: ["Forbidden"] },
  governance: {
    ownerOf: async ({ tenant_id, internal }, { store }) => {
      if (internal) return PLATFORM_TENANT;
      const record = tenant_id && await getTenantRecord(store.asPlatform(), tenant_id);
      return record ? record.id : undefined;
    },
  },
  example: { input: {}, output: { total: 1, devices: [exampleDevice] } },
  run: async ({ tenant_id, internal, limit }, { store }) => {
    const wanted = internal ? PLATFORM_TENANT : tenant_id ?? store.tenant;
    if (wanted !== store.tenant) {
      throw new Problem("Forbidden", "These are not your devices; a key of tier admin lists them");
    }
    const devices = await readDevices(store);
    return { total: devices.length, devices: devices.slice(0, limit) };
  },
});

/** Devices of an organization. */
export const tenantDevices = operation({
  name: "tenants.devices",
  group: "devices",
  summary: "List the devices of an organization",
  effect: "read",
  access: "key",
  input: z.object({
    org_id: z.string().min(1).max(200).describe("Your own; with a key of tier admin, any"),
  }),
  output: z.object({ org_id: z.string(), total: z.number().int(), devices: z.array(Device) }),
  rest: { tenant_devices: "GET /v1/tenants/{org_id}/devices" },
  presentation: { untrusted: true, errors: ["NotFound"] },
  governance: {
    ownerOf: async ({ org_id }, { store }) =>
      (await getTenantRecord(store.asPlatform(), org_id))?.id,
  },
  example: {
    input: { org_id: "acme" },
    output: { org_id: "acme", total: 1, devices: [exampleDevice] },
  },
  run: async ({ org_id }, { store }) => {
    if (org_id !== store.tenant) {
      throw new Problem("NotFound", `There is no organization ${org_id}`);
    }
    const devices = await readDevices(store);
    return { org_id, total: devices.length, devices };
  },
});

/** The same for AI agents, in the words of remote management. */
export const rmmAgents = operation({
  name: "rmm.agents",
  group: "integrations",
  summary: "List the managed machines, with their status and when they were heard from",
  description: "The operator's own keys also see the first 300 hosts of Fleet, where that is set.",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView.extend({
    total: z.number().int(),
    agents: z.array(z.object({
      agent_id: z.string().describe("Id of the device, or `fleet:<id of the host>`"),
      name: z.string(),
      platform: z.string(),
      os: z.string().nullable(),
      status: Device.shape.status,
      version: z.string().nullable(),
      last_seen_at: Device.shape.last_seen_at,
    })),
  }),
  rest: { rmm_agents: "GET /v1/integrations/rmm/agents" },
  tool: { rmm_agents: FULL },
  presentation: {
    toolText: { rmm_agents: "For each machine; rmm_summary counts them." },
    toolGroup: { rmm_agents: "devices" },
    untrusted: true,
  },
  example: {
    input: {},
    output: {
      ...exampleView,
      integration: "rmm",
      detail: "1 device: 1 online",
      total: 1,
      agents: [{
        agent_id: exampleDevice.device_id,
        name: exampleDevice.name,
        platform: exampleDevice.platform,
        os: exampleDevice.os,
        status: exampleDevice.status,
        version: exampleDevice.agent_version,
        last_seen_at: exampleDevice.last_seen_at,
      }],
    },
  },
  run: async (_, context) => {
    const { store, views } = context;
    const fleet = systemFor("rmm", context);
    const [view, devices, hosts] = await Promise.all([
      views.view("rmm", context),
      readDevices(store),
      unlessAway(fleet?.listHosts(), []),
    ]);
    const isQuiet = devices.some(({ status }) => status === "offline" || status === "quarantined");
    const own = { // of the caller's tenant
      mode: "built_in" as const,
      status: isQuiet ? "degraded" as const : "ok" as const,
      detail: describeStatuses(devices),
    };
    const both = {
      status: view.status === "ok" ? own.status : view.status,
      detail: `${own.detail}; ${view.detail}`,
    };
    return {
      ...view,
      ...(fleet ? both : own),
      total: devices.length + hosts.length,
      agents: [...devices.map(toAgent), ...hosts.map(hostToAgent)],
    };
  },
});

function toAgent(device: z.output<typeof Device>) {
  return {
    agent_id: device.device_id,
    name: device.name,
    platform: device.platform,
    os: device.os,
    status: device.status,
    version: device.agent_version,
    last_seen_at: device.last_seen_at,
  };
}

function hostToAgent({ id, name, platform, os, isOnline, version, seenAt }: FleetHost) {
  return {
    agent_id: `fleet:${id}`,
    name,
    platform,
    os,
    status: isOnline ? "online" as const : "offline" as const,
    version,
    last_seen_at: seenAt,
  };
}
