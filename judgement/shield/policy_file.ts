/** The shield's file: its content is put in force as a new version, and sealed. */
import type { Config } from "../../config.ts";
import { type FollowedFile, settingsFilePath } from "../../integrations/files/mod.ts";
import { checkPolicy, type FilePolicy, followPolicy } from "../../integrations/policy_files/mod.ts";
import type { Follower } from "../../integrations/settings_files/mod.ts";
import type { Db } from "../../store/mod.ts";
import { currentPolicy } from "../../store/calls/mod.ts";
import {
  hashShieldPolicy,
  readShieldPolicy,
  type ShieldPolicy,
  shieldPolicyOf,
  shippedShieldPolicy,
} from "./policy.ts";

const POLICY: FilePolicy<ShieldPolicy> = {
  table: "shield_policies",
  subject: "shield-policy",
  actor: "worker",
  details({ policies, firewall }) {
    const shipped = new Set(shippedShieldPolicy().policies.map(({ id }) => id));
    return {
      policies: policies.length,
      shipped: policies.filter(({ id }) => shipped.has(id)).length,
      firewalls: Object.keys(firewall).length,
    };
  },
  evidence: (policy) => ({ sha256: hashShieldPolicy(policy) }),
};

/** The policy in force. */
export interface ShieldPolicyInForce {
  /** 0: the one that ships, as none was put in force. */
  readonly version: number;
  readonly policy: ShieldPolicy;
}

/** Returns the path of the file. */
export function shieldFilePath(config: Config): string {
  return settingsFilePath(config, "shield");
}

/** Returns the policy in force. */
export async function currentShieldPolicy(db: Db): Promise<ShieldPolicyInForce> {
  const stored = await currentPolicy(db, POLICY.table);
  return { version: stored?.version ?? 0, policy: shieldPolicyOf(stored) };
}

/** Reads the file, and puts nothing in force. @throws {BadFile} */
export function checkShieldFile(path: string): void {
  checkPolicy(path, readShieldPolicy);
}

/** Follows the file, as {@linkcode followPolicy} does. */
export async function followShieldFile(follower: Follower): Promise<FollowedFile> {
  return await followPolicy({ name: "shield", policy: POLICY, read: readShieldPolicy }, follower);
}
