/** Facts of devices, and the context that they are judged in. */
import { hash } from "node:crypto";
import type { CheckResult } from "../../../contract/domain/mod.ts";
import {
  judgeDevice,
  readFacts,
  readShieldPolicy,
  type ShieldPolicy,
  shippedShieldPolicy,
} from "../../../judgement/shield/mod.ts";

export const NOW = new Date("2026-11-23T12:00:00Z");
const AGENT_SHA256 = "a".repeat(64);
export const RULES = "chain input { type filter hook input priority 0; policy accept; }\n";

/** A device that passes every check. */
export const RIGHT = {
  os: { id: "debian", version: "12", support_end: null },
  agent: { version: "1.0.0", sha256: AGENT_SHA256 },
  listeners: [
    { protocol: "tcp", address: "0.0.0.0", port: 22 },
    { protocol: "tcp", address: "127.0.0.1", port: 23 },
  ],
  posture: {
    disk_encrypted: true,
    firewall_active: true,
    sshd: { installed: true, password_authentication: "no", permit_root_login: "no" },
    time_synchronized: true,
    uid_0: ["root"],
    updates: { pending: 3, security: 0, listed_at: NOW.getTime() / 1_000 - 3_600 },
  },
};

export const RIGHT_FIREWALL = {
  backend: "nft",
  observed_sha256: "b".repeat(64),
  drift: false,
  applied_sha256: hash("sha256", RULES),
};

interface Case {
  readonly inventory?: Readonly<Record<string, unknown>>;
  readonly firewall?: unknown;
  readonly policy?: ShieldPolicy;
  readonly platform?: string;
  readonly desiredFirewall?: string | undefined;
  readonly lastSeenAt?: Date | null;
}

/** Judges a device. @returns results by the ids of the policies */
export function judge({
  inventory = RIGHT,
  firewall = RIGHT_FIREWALL,
  policy = shippedShieldPolicy(),
  platform = "linux",
  lastSeenAt = NOW,
  ...rest
}: Case = {}): Record<string, CheckResult> {
  const facts = readFacts({ platform, lastSeenAt }, inventory, firewall);
  const desiredFirewall = "desiredFirewall" in rest ? rest.desiredFirewall : RULES;
  const context = { now: NOW, agentSha256: AGENT_SHA256, desiredFirewall };
  const judged = judgeDevice(policy, facts, context);
  return Object.fromEntries(judged.map(({ policy: { id }, result }) => [id, result]));
}

/** Judges a device whose posture differs from a right one. */
export function judgePosture(posture: Readonly<Record<string, unknown>>) {
  return judge({ inventory: { ...RIGHT, posture: { ...RIGHT.posture, ...posture } } });
}

/** Returns a policy with one check alone. */
export function policyOf(check: string): ShieldPolicy {
  const text = `policies: [{ id: own, title: Own, severity: low, check: ${check} }]`;
  const policy = readShieldPolicy(text);
  return { ...policy, policies: policy.policies.filter(({ id }) => id === "own") };
}
