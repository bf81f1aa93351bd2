import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { systemFor, unlessAway } from "../integrations/acts/mod.ts";
import type { MeshDevice } from "../../integrations/mesh/mod.ts";
import {
  describeMesh,
  medianMs,
  type Mesh,
  MESH_SCRIPT,
  readMesh,
} from "../../judgement/shield/mod.ts";
import { exampleView, IntegrationView, Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

const HOW =
  `Measured by the devices' agents with the catalogue's script \`${MESH_SCRIPT}\`: it runs on a device, with the addresses ` +
  "and ports of others as `targets`. The operator's own keys also see the devices of MeshCentral, where that is set, and " +
  "whether it is connected with them.";

const Link = z.object({
  from: z.string().describe("Id of the device that measured, or `meshcentral`"),
  to: z.string().describe(
    "Id of the device that has the address, or `meshcentral:` and its id there",
  ),
  target: z.string(),
  reachable: z.boolean(),
  microseconds: z.number().int().nullable().describe("Shortest of three; null: no answer"),
  measured_at: Timestamp,
});

const exampleMesh = {
  ...exampleView,
  integration: "mesh" as const,
  detail: "2 of 2 ways are open",
};

/** Health of the ways between devices. */
export const meshHealth = operation({
  name: "mesh.health",
  group: "devices",
  summary: "Check whether the devices reach each other",
  description: HOW,
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView,
  tool: { mesh_health: FULL },
  presentation: {
    toolText: { mesh_health: "Measured by the devices' agents; mesh_devices has the pairs." },
  },
  example: { input: {}, output: exampleMesh },
  run: async (_, context) => {
    const { view } = await look(context);
    return view;
  },
});

/** Devices and the ways between them. */
export const meshDevices = operation({
  name: "mesh.devices",
  group: "devices",
  summary: "List the devices with their addresses, and which of them reach each other",
  description: HOW,
  effect: "read",
  access: "key",
  input: z.object({}),
  output: IntegrationView.extend({
    devices: z.array(
      z.object({ device_id: z.string(), name: z.string(), addresses: z.array(z.string()) }),
    ),
    links: z.array(Link),
  }),
  tool: { mesh_devices: FULL },
  presentation: {
    toolText: { mesh_devices: "Measured by the devices' agents with the script `mesh-reach`." },
    untrusted: true,
  },
  example: {
    input: {},
    output: {
      ...exampleMesh,
      devices: [{ device_id: "DEV-41c41e2abac4", name: "web-1", addresses: ["10.1.2.3"] }],
      links: [{
        from: "DEV-1d0f6a2b9c3e",
        to: "DEV-41c41e2abac4",
        target: "10.1.2.3:22",
        reachable: true,
        microseconds: 240,
        measured_at: "2026-07-01T12:00:00.000Z",
      }],
    },
  },
  run: async (_, context) => {
    const { view, mesh } = await look(context);
    return {
      ...view,
      devices: mesh.peers.map(({ id, name, addresses }) => ({ device_id: id, name, addresses })),
      links: mesh.links.map(({ measuredAt, ...link }) => ({
        ...link,
        measured_at: measuredAt.toISOString(),
      })),
    };
  },
});

/** Figures of the ways between devices. */
export const meshStats = operation({
  name: "mesh.stats",
  group: "integrations",
  summary: "Count the devices and the ways between them",
  description: `${HOW} Without a key: of the operator's own devices.`,
  effect: "read",
  access: "public",
  input: z.object({}),
  output: IntegrationView.extend({
    peers: z.number().int().min(0),
    links: z.number().int().min(0).describe("Ways that were measured"),
    reachable: z.number().int().min(0),
    p50_ms: z.number().nullable().describe("Median of the ways that are open; null: none is"),
  }),
  rest: { mesh_stats: "GET /v1/integrations/mesh/stats" },
  example: {
    input: {},
    output: { ...exampleMesh, peers: 2, links: 2, reachable: 2, p50_ms: 0.24 },
  },
  run: async (_, context) => {
    const { view, mesh: { peers, links } } = await look(context);
    return {
      ...view,
      peers: peers.length,
      links: links.length,
      reachable: links.filter(({ reachable }) => reachable).length,
      p50_ms: medianMs(links),
    };
  },
});

/** Looks at the mesh of the caller's tenant. */
async function look(context: Context) {
  const { store, views } = context;
  const meshCentral = systemFor("mesh", context);
  const [view, own, devices] = await Promise.all([
    views.view("mesh", context),
    readMesh(store.db),
    unlessAway(meshCentral?.listDevices(), []),
  ]);
  const { status, detail } = describeMesh(own);
  if (!meshCentral) {
    return { mesh: own, view: { ...view, mode: "built_in" as const, status, detail } };
  }
  return {
    mesh: addDevices(own, devices, new Date(view.checked_at)),
    view: {
      ...view,
      status: view.status === "ok" ? status : view.status,
      detail: `${detail}; ${view.detail}`,
    },
  };
}

/** Adds MeshCentral's devices, each with the way between it and MeshCentral. */
function addDevices({ peers, links }: Mesh, devices: readonly MeshDevice[], at: Date): Mesh {
  const idOf = ({ id }: MeshDevice) => `meshcentral:${id}`;
  return {
    peers: [
      ...peers,
      ...devices.map((one) => ({
        id: idOf(one),
        name: one.name,
        addresses: one.address === null ? [] : [one.address],
      })),
    ],
    links: [
      ...links,
      ...devices.map((one) => ({
        from: "meshcentral",
        to: idOf(one),
        target: one.address ?? one.name,
        reachable: one.isConnected,
        microseconds: null,
        measuredAt: at,
      })),
    ],
  };
}
