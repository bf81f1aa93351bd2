/** The guardrails' policy file: its content is put in force as a new version, and sealed. */
import { join } from "node:path";
import type { Logger } from "pino";
import type { Config } from "../../config.ts";
import type { FollowedFile } from "../../integrations/files/mod.ts";
import { checkPolicy, type FilePolicy, followPolicy } from "../../integrations/policy_files/mod.ts";
import type { Store } from "../../store/mod.ts";
import { DEFAULT_POLICY, type Policy, readPolicyFile } from "./policy.ts";

const POLICY: FilePolicy<Policy> = {
  table: "guard_policies",
  subject: "guard-policy",
  actor: "engine",
  details: (policy, before = DEFAULT_POLICY) => ({
    diff_summary: changedFields(before, policy).join(", ") || "none",
  }),
};

/** Returns the path of the file. */
export function policyFilePath({ settings, dataDir }: Config): string {
  return settings.SEALOOP_POLICY ?? join(dataDir, "sealoop.policy.yaml");
}

/** Reads the file, and puts nothing in force. @throws {BadFile} */
export function checkPolicyFile(path: string): void {
  checkPolicy(path, readPolicyFile);
}

/** Follows the file, as {@linkcode followPolicy} does. */
export async function followPolicyFile(
  path: string,
  store: Store,
  log: Logger,
): Promise<FollowedFile> {
  const file = { name: "policy", path, policy: POLICY, read: readPolicyFile } as const;
  return await followPolicy(file, store, log);
}

/** Returns the names of the fields that differ; their values stay private. */
function changedFields(before: Policy, after: Policy): string[] {
  const names = Object.keys(after.bounds) as (keyof Policy["bounds"])[];
  const bounds = names.filter((name) => before.bounds[name] !== after.bounds[name]);
  const isSame = JSON.stringify(before.freezes) === JSON.stringify(after.freezes);
  return isSame ? bounds : [...bounds, "freezes"];
}
