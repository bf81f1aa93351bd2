/** The guardrails' policy file: its content is put in force as a new version, and sealed. */
import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import { parse } from "yaml";
import { type FollowedFile, followFile } from "../integrations/files/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { type Db, type PolicyRecord, setPolicy, type Store } from "../store/mod.ts";
import { DEFAULT_POLICY, type Policy, policyVersionName, readPolicy } from "./policy.ts";

/**
 * Follows the guardrails' policy file: puts it in force now and whenever it changes. A wrong file changes nothing, and the
 * log says what is wrong. Where there is no file, or it was removed, the policy in force stays.
 */
export async function followPolicyFile(
  path: string,
  store: Store,
  log: Logger,
): Promise<FollowedFile> {
  return await followFile({
    path,
    name: "guardrails' policy file",
    log,
    logFirstError: true,
    async apply(exists) {
      if (!exists) return;
      const version = await putInForce(store, readPolicy(parse(readFileSync(path, "utf8"))));
      log.info({ version }, "the guardrails' policy is in force");
    },
  });
}

/**
 * Puts a policy in force as a new version and seals that, unless it is in force already.
 *
 * @returns the version's name, as verdicts have it
 */
async function putInForce(store: Store, policy: Policy): Promise<string> {
  return await store.asPlatform().transaction(async (trx) => {
    const { before, after } = await setPolicy(trx, "guard_policies", policy);
    if (after !== before) await sealChange(trx, before, after);
    return policyVersionName(after);
  });
}

async function sealChange(
  trx: Db,
  before: PolicyRecord | undefined,
  after: PolicyRecord,
): Promise<void> {
  const policyBefore = before?.policy as Policy | undefined ?? DEFAULT_POLICY;
  await requestSeal(trx, {
    category: "config_change",
    actor: "engine",
    subject: "guard-policy",
    action: "policy.set",
    outcome: "in_force",
    details: {
      device: "guard-policy",
      change_type: "policy",
      version: after.version,
      before_hash: before?.commitment ?? null,
      after_hash: after.commitment,
      diff_summary: changedFields(policyBefore, after.policy as Policy).join(", ") || "none",
    },
    evidence: { policy: JSON.stringify(after.policy), salt: after.salt.toString("hex") },
  });
}

/** Returns the names of the fields that differ; their values stay private. */
function changedFields(before: Policy, after: Policy): string[] {
  const names = Object.keys(after.bounds) as (keyof Policy["bounds"])[];
  const bounds = names.filter((name) => before.bounds[name] !== after.bounds[name]);
  const isSame = JSON.stringify(before.freezes) === JSON.stringify(after.freezes);
  return isSame ? bounds : [...bounds, "freezes"];
}
