/** Facts as a device's agent reports them. They are claims: each is parsed where a check needs it. */
import { z } from "zod";

const text = z.string().max(200);

/** Section `os` of an inventory. */
export const Os = z.object({ id: text, version: text, support_end: text.nullish() });
/** Section `agent` of an inventory. */
export const Agent = z.object({ version: text, sha256: text });
/** One element of section `listeners`. */
export const Listener = z.object({ protocol: text, address: text, port: z.number().int() });
/** Options of the SSH server; `installed` false: there is none. */
export const Sshd = z.object({
  installed: z.boolean(),
  password_authentication: text.optional(),
  permit_root_login: text.optional(),
});
/** Pending updates; `listed_at`: seconds since 1970 at which the device fetched its lists. */
export const Updates = z.object({
  pending: z.number().int(),
  security: z.number().int(),
  listed_at: z.number(),
});
/** The firewall of a device, as its heartbeat reports it. */
export const DeviceFirewall = z.object({
  backend: z.enum(["nft", "iptables"]),
  observed_sha256: text,
  drift: z.boolean().nullable(),
  applied_sha256: text.nullable(),
});
/** The firewall of a device, as its heartbeat reports it. */
export type DeviceFirewall = z.output<typeof DeviceFirewall>;

/** Facts about a device. */
export interface DeviceFacts {
  /** As the device enrolled itself. */
  readonly platform: string;
  /** Last heartbeat, which confirms all facts; null: there was none. */
  readonly lastSeenAt: Date | null;
  readonly os: unknown;
  readonly agent: unknown;
  readonly listeners: unknown;
  readonly posture: Readonly<Record<string, unknown>>;
  readonly firewall: DeviceFirewall | null;
}

/** Reads the facts of a device from the sections of its inventory and its report about the firewall. */
export function readFacts(
  { platform, lastSeenAt }: Pick<DeviceFacts, "platform" | "lastSeenAt">,
  inventory: Readonly<Record<string, unknown>>,
  firewall: unknown,
): DeviceFacts {
  const { os, agent, listeners, posture } = inventory;
  return {
    platform,
    lastSeenAt,
    os,
    agent,
    listeners,
    posture: z.record(z.string(), z.unknown()).safeParse(posture).data ?? {},
    firewall: DeviceFirewall.safeParse(firewall).data ?? null,
  };
}
