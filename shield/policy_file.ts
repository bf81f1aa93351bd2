/** The shield's file: its content is put in force as a new version, and sealed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../config.ts";
import { type FollowedFile, followFile } from "../integrations/files/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { currentPolicy, type Db, type PolicyChange, setPolicy, type Store } from "../store/mod.ts";
import {
  hashShieldPolicy,
  readShieldPolicy,
  type ShieldPolicy,
  shieldPolicyOf,
  shippedShieldPolicy,
} from "./policy.ts";

const TABLE = "shield_policies";

/** The policy in force. */
export interface ShieldPolicyInForce {
  /** 0: the one that ships, as none was put in force. */
  readonly version: number;
  readonly policy: ShieldPolicy;
}

/** Returns the path of the file. */
export function shieldFilePath({ settings, dataDir }: Config): string {
  return settings.SEALOOP_SHIELD ?? join(dataDir, "sealoop.shield.yaml");
}

/** Returns the policy in force. */
export async function currentShieldPolicy(db: Db): Promise<ShieldPolicyInForce> {
  const stored = await currentPolicy(db, TABLE);
  return { version: stored?.version ?? 0, policy: shieldPolicyOf(stored) };
}

/**
 * Follows the file: puts it in force now and whenever it changes. A wrong file changes nothing, and the log says what is
 * wrong. Where there is no file, or it was removed, the policy in force stays.
 */
export async function followShieldFile(
  path: string,
  store: Store,
  log: Logger,
): Promise<FollowedFile> {
  return await followFile({
    path,
    name: "shield's file",
    log,
    logFirstError: true,
    async apply(exists) {
      if (!exists) return;
      const version = await putInForce(store, readShieldPolicy(readFileSync(path, "utf8")));
      log.info({ version }, "The shield's policy is in force");
    },
  });
}

/** Puts a policy in force as a new version and seals that, unless it is in force already. @returns the version */
async function putInForce(store: Store, policy: ShieldPolicy): Promise<number> {
  return await store.asPlatform().transaction(async (trx) => {
    const change = await setPolicy(trx, TABLE, { ...policy });
    if (change.after !== change.before) await sealChange(trx, change);
    return change.after.version;
  });
}

async function sealChange(trx: Db, { before, after }: PolicyChange): Promise<void> {
  const policy = after.policy as ShieldPolicy;
  const shipped = new Set(shippedShieldPolicy().policies.map(({ id }) => id));
  await requestSeal(trx, {
    category: "config_change",
    actor: "worker",
    subject: "shield-policy",
    action: "policy.set",
    outcome: "in_force",
    details: {
      device: "shield-policy",
      change_type: "policy",
      version: after.version,
      before_hash: before?.commitment ?? null,
      after_hash: after.commitment,
      policies: policy.policies.length,
      shipped: policy.policies.filter(({ id }) => shipped.has(id)).length,
      firewalls: Object.keys(policy.firewall).length,
    },
    evidence: {
      policy: JSON.stringify(policy),
      salt: after.salt.toString("hex"),
      sha256: hashShieldPolicy(policy),
    },
  });
}
