/** The policy file of the guardrails: what it says is put in force as a new version, and sealed. */
import { readFileSync } from "node:fs";
import { stampOf } from "../integrations/files/mod.ts";
import type { Logger } from "pino";
import { parse } from "yaml";
import { DEFAULT_POLICY, type Policy, readPolicy, versionName } from "./mod.ts";
import { isDatabaseAway } from "../contract/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { type PolicyRecord, type Db, setPolicy, type Store } from "../store/mod.ts";

const LOOK_MS = 2_000;

/**
 * Puts a policy in force as a new version, unless it is in force already, and seals that.
 *
 * @returns its version, as verdicts name it
 */
export async function putPolicyInForce(store: Store, policy: Policy): Promise<string> {
  return await store.asPlatform().transaction(async (trx) => {
    const { before, after } = await setPolicy(trx, "guard_policies", policy);
    if (after !== before) await sealChange(trx, before, after);
    return versionName(after.version, policy);
  });
}

async function sealChange(
  trx: Db,
  before: PolicyRecord | undefined,
  after: PolicyRecord,
): Promise<void> {
  const was = before?.policy as Policy | undefined ?? DEFAULT_POLICY;
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
      before_hash: before?.sha256 ?? null,
      after_hash: after.sha256,
      diff_summary: changedFields(was, after.policy as Policy).join(", ") || "none",
    },
    evidence: { policy: JSON.stringify(after.policy) },
  });
}

/** Names of the fields that differ; their values stay private. */
function changedFields(was: Policy, is: Policy): string[] {
  const names = Object.keys(is.bounds) as (keyof Policy["bounds"])[];
  const bounds = names.filter((name) => was.bounds[name] !== is.bounds[name]);
  const freezes = JSON.stringify(was.freezes) === JSON.stringify(is.freezes) ? [] : ["freezes"];
  return [...bounds, ...freezes];
}

/**
 * Follows the policy file of the guardrails: reads it now and whenever it has changed. A file that is wrong changes
 * nothing, and the log says what is wrong with it; where there is none, the policy stays what it was.
 *
 * @returns ends it
 */
export function followPolicyFile(path: string, store: Store, log: Logger): () => void {
  const what = "the guardrails' policy";
  let seen = "";
  let busy = false;
  const look = async () => {
    const stamp = stampOf(path);
    if (busy || stamp === undefined || stamp === seen) return;
    busy = true;
    try {
      const version = await putPolicyInForce(store, readPolicy(parse(readFileSync(path, "utf8"))));
      log.info({ version }, `${what} is in force`);
      seen = stamp;
    } catch (error) {
      const { message } = error as Error;
      log.error({ reason: message }, `the file of ${what} is not followed`);
      if (!isDatabaseAway(error)) seen = stamp;
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(look, LOOK_MS);
  void look();
  return () => clearInterval(timer);
}
