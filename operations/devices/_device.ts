import { z } from "zod";
import { countChecks, judgeDevicesSparingly, readAgent } from "../../judgement/shield/mod.ts";
import type { Store } from "../../store/mod.ts";
import { DEVICE_STATUSES, listDevices, listPresence } from "../../store/devices/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { DeviceId, DevicePlatform, PublicKey } from "./_schemas.ts";

/** A device. */
export const Device = z.object({
  device_id: DeviceId,
  name: z.string().describe("As it was enrolled; it identifies nothing"),
  platform: DevicePlatform,
  os: z.string().nullable().describe("As the device says; null: it has not"),
  agent_version: z.string().nullable(),
  status: z.enum(DEVICE_STATUSES).describe(
    "late: a heartbeat is missing; offline: three are, while a gateway was at work; quarantined: it is given no commands",
  ),
  posture: z.object({
    passed: z.number().int(),
    failed: z.number().int(),
    unknown: z.number().int(),
  }).describe("Checks of the shield"),
  last_seen_at: Timestamp.nullable().describe("Newest heartbeat; null: none came yet"),
  enrolled_at: Timestamp,
  public_key: PublicKey,
  tenant_id: z.string(),
}).meta({ id: "Device" });

/** A device, in examples. */
export const exampleDevice: z.output<typeof Device> = {
  device_id: "DEV-41c41e2abac4",
  name: "web-1",
  platform: "linux",
  os: "Debian GNU/Linux 12 (bookworm)",
  agent_version: "1.0.0",
  status: "online",
  posture: { passed: 8, failed: 0, unknown: 1 },
  last_seen_at: "2026-07-01T12:00:00.000Z",
  enrolled_at: "2026-06-01T12:00:00.000Z",
  public_key: "41".repeat(32),
  tenant_id: "acme",
};

const Os = z.object({ name: z.string() });
const Agent = z.object({ version: z.string() });

/** Returns the devices of the store's tenant, the last enrolled first. */
export async function readDevices(store: Store): Promise<z.output<typeof Device>[]> {
  const { db } = store;
  const { sha256: agentSha256 } = await readAgent();
  const [records, presence, { devices }] = await Promise.all([
    listDevices(db),
    listPresence(db),
    judgeDevicesSparingly(store, agentSha256),
  ]);
  const heard = new Map(presence.map((one) => [one.id, one]));
  const judged = new Map(devices.map((one) => [one.device.id, one]));
  return records.map(({ id, name, platform, enrolledAt, publicKey, tenant: owner }) => {
    const { facts, judged: checks } = judged.get(id) ?? {};
    const { status, lastSeenAt } = heard.get(id) ?? {};
    return {
      device_id: id,
      name,
      platform: platform as z.output<typeof DevicePlatform>,
      os: Os.safeParse(facts?.os).data?.name ?? null,
      agent_version: Agent.safeParse(facts?.agent).data?.version ?? null,
      status: status ?? "offline",
      posture: countChecks(checks ?? []),
      last_seen_at: lastSeenAt?.toISOString() ?? null,
      enrolled_at: enrolledAt.toISOString(),
      public_key: publicKey,
      tenant_id: owner,
    };
  });
}

/** Describes devices by their status: `3 devices: 2 online, 1 offline`. */
export function describeStatuses(
  devices: readonly Pick<z.output<typeof Device>, "status">[],
): string {
  const counts = DEVICE_STATUSES
    .map((status) => [devices.filter((one) => one.status === status).length, status] as const)
    .filter(([count]) => count > 0).map(([count, status]) => `${count} ${status}`);
  const total = devices.length === 1 ? "1 device" : `${devices.length} devices`;
  return counts.length === 0 ? total : `${total}: ${counts.join(", ")}`;
}
