/** The file of budgets for models: its content is put in force as a new version, and sealed. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import { type FollowedFile, followFile } from "../../integrations/files/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { type Db, type PolicyChange, setPolicy, type Store } from "../../store/mod.ts";
import { type ModelPolicy, readModelPolicy } from "./policy.ts";

/** Returns the path of the file. */
export function modelFilePath({ settings, dataDir }: Config): string {
  return settings.SEALOOP_MODELS ?? join(dataDir, "sealoop.models.yaml");
}

/**
 * Follows the file: puts it in force now and whenever it changes. A wrong file changes nothing, and the log says what is
 * wrong. Where there is no file, or it was removed, the policy in force stays.
 */
export async function followModelFile(
  path: string,
  store: Store,
  log: Logger,
): Promise<FollowedFile> {
  return await followFile({
    path,
    name: "file of budgets for models",
    log,
    logFirstError: true,
    async apply(exists) {
      if (!exists) return;
      const version = await putInForce(store, readModelPolicy(readFileSync(path, "utf8")));
      log.info({ version }, "The policy of the use of models is in force");
    },
  });
}

/** Puts a policy in force as a new version and seals that, unless it is in force already. @returns the version */
async function putInForce(store: Store, policy: ModelPolicy): Promise<number> {
  return await store.asPlatform().transaction(async (trx) => {
    const change = await setPolicy(trx, "model_policies", { ...policy });
    if (change.after !== change.before) await sealChange(trx, change);
    return change.after.version;
  });
}

async function sealChange(trx: Db, { before, after }: PolicyChange): Promise<void> {
  const policy = after.policy as ModelPolicy;
  const { tiers, keys, tenants } = policy.budgets;
  const count = (entries: object) => Object.keys(entries).length;
  await requestSeal(trx, {
    category: "config_change",
    actor: "worker",
    subject: "model-policy",
    action: "policy.set",
    outcome: "in_force",
    details: {
      device: "model-policy",
      change_type: "policy",
      version: after.version,
      before_hash: before?.commitment ?? null,
      after_hash: after.commitment,
      privacy: policy.privacy.default,
      budgets: count(tiers) + count(keys) + count(tenants),
    },
    evidence: { policy: JSON.stringify(policy), salt: after.salt.toString("hex") },
  });
}
