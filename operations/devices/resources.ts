import { z } from "zod";
import { operation, unknownRecord } from "../../calls/mod.ts";
import { findDevice, getInventory, listPresence } from "../../store/devices/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { DeviceId } from "./_schemas.ts";

/** Sections of the inventory that it returns. */
const SECTIONS = [
  "os",
  "cpu",
  "memory",
  "disks",
  "interfaces",
  "listeners",
  "packages_sha256",
  "services",
] as const;
const section = (about: string) => z.unknown().describe(`${about}; null: the device can't tell`);

/** Hardware, addresses, listeners and services of a device. */
export const deviceResources = operation({
  name: "devices.resources",
  group: "devices",
  summary: "Get what a device says of its hardware, addresses, listeners and services",
  effect: "read",
  access: "key",
  input: z.object({ device_id: DeviceId }),
  output: z.object({
    device_id: DeviceId,
    observed_at: Timestamp.nullable().describe(
      "Newest heartbeat, which confirms it; null: none came yet",
    ),
    stale: z.boolean().describe("True: the device is not online, so that it may be otherwise now"),
    os: section("Name, version and kernel"),
    cpu: section("Model, number and load"),
    memory: section("Bytes in all and free"),
    disks: section("File systems with their sizes"),
    interfaces: section("Network interfaces with their addresses"),
    listeners: section("Ports that are listened on"),
    packages_sha256: section("SHA-256 over the installed packages and their versions"),
    services: section("Services that have failed or run"),
  }),
  rest: { device_resources: "GET /v1/devices/{device_id}/resources" },
  presentation: { untrusted: true, errors: ["NotFound"] },
  governance: {
    ownerOf: async ({ device_id }, { store }) =>
      (await findDevice(store.asPlatform(), device_id))?.tenant,
  },
  example: {
    input: { device_id: "DEV-41c41e2abac4" },
    output: {
      device_id: "DEV-41c41e2abac4",
      observed_at: "2026-07-01T12:00:00.000Z",
      stale: false,
      os: { id: "debian", version: "12", name: "Debian GNU/Linux 12 (bookworm)" },
      cpu: { model: "AMD EPYC", count: 4, load_percent: 10 },
      memory: { total_bytes: 8_589_934_592, available_bytes: 4_294_967_296 },
      disks: [{ device: "/dev/vda1", mount: "/", size_bytes: 53_687_091_200 }],
      interfaces: [{ name: "eth0", addresses: ["192.0.2.10"] }],
      listeners: [{ protocol: "tcp", address: "0.0.0.0", port: 22 }],
      packages_sha256: "5f70bf18a086007016e948b04aed3b82103a36bea41755b6cddfaf10ace3c6ef",
      services: null,
    },
  },
  run: async ({ device_id }, { store }) => {
    const [[presence], { sections }] = await Promise.all([
      listPresence(store.db, device_id),
      getInventory(store.db, device_id),
    ]);
    if (!presence) throw await unknownRecord(store.db, "device", device_id);
    const values = SECTIONS.map((name) => [name, JSON.parse(sections.get(name) ?? "null")]);
    return {
      device_id,
      observed_at: presence.lastSeenAt?.toISOString() ?? null,
      stale: presence.status !== "online",
      ...Object.fromEntries(values) as Record<typeof SECTIONS[number], unknown>,
    };
  },
});
