/** Policy files, of the guardrails and of governance: what they say is put in force as a new version, and sealed. */
import { readFileSync } from "node:fs";
import type { Logger } from "pino";
import { parse } from "yaml";
import { DEFAULT_POLICY, type Policy, readPolicy, versionName } from "../engine/guard/mod.ts";
import { isAway } from "../contract/mod.ts";
import { type GovernancePolicy, governanceVersion, readGovernanceFile } from "../governance/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { type PolicyRecord, type Queryable, setPolicy, type Store } from "../store/mod.ts";
import { stampOf } from "./_file_stamp.ts";
import { misnamed } from "./_names.ts";

const LOOK_MS = 2_000;

/**
 * Puts a policy in force as a new version, unless it is in force already, and seals that.
 *
 * @returns its version, as verdicts name it
 */
export async function putPolicyInForce(store: Store, policy: Policy): Promise<string> {
  const { version } = await setPolicy(store, policy, sealChange);
  return versionName(version, policy);
}

async function sealChange(
  on: Queryable,
  before: PolicyRecord | undefined,
  after: PolicyRecord,
): Promise<void> {
  const was = before?.policy as Policy | undefined ?? DEFAULT_POLICY;
  await requestSeal(on, {
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
  const put = (text: string) => putPolicyInForce(store, readPolicy(parse(text)));
  return followFile(path, "the guardrails' policy", put, log);
}

/** Follows the policy file of governance, likewise. The log also says which of its names can never be called. */
export function followGovernanceFile(path: string, store: Store, log: Logger): () => void {
  const put = async (text: string) => {
    const file = readGovernanceFile(text);
    const { policy } = file;
    const { version } = await setPolicy(store, policy, sealGovernance, "governance_policies");
    for (const reason of misnamed(file)) log.warn({ reason }, "a rule names what is not there");
    return governanceVersion(version, policy);
  };
  return followFile(path, "the governance policy", put, log);
}

async function sealGovernance(
  on: Queryable,
  before: PolicyRecord | undefined,
  after: PolicyRecord,
): Promise<void> {
  const { rules } = after.policy as GovernancePolicy;
  await requestSeal(on, {
    category: "config_change",
    actor: "worker",
    subject: "governance-policy",
    action: "policy.set",
    outcome: "in_force",
    details: {
      device: "governance-policy",
      change_type: "policy",
      version: after.version,
      before_hash: before?.sha256 ?? null,
      after_hash: after.sha256,
      rules: rules.length,
    },
    evidence: { policy: JSON.stringify(after.policy) },
  });
}

function followFile(
  path: string,
  what: string,
  putInForce: (text: string) => Promise<string>,
  log: Logger,
): () => void {
  let seen = "";
  let busy = false;
  const look = async () => {
    const stamp = stampOf(path);
    if (busy || stamp === undefined || stamp === seen) return;
    busy = true;
    try {
      const version = await putInForce(readFileSync(path, "utf8"));
      log.info({ version }, `${what} is in force`);
      seen = stamp;
    } catch (error) {
      const { message } = error as Error;
      log.error({ reason: message }, `the file of ${what} is not followed`);
      if (!isAway(error)) seen = stamp;
    } finally {
      busy = false;
    }
  };
  const timer = setInterval(look, LOOK_MS);
  void look();
  return () => clearInterval(timer);
}
