/** The guardrails' policy file: its content is put in force as a new version, and sealed. */
import type { Config } from "../../config.ts";
import { type FollowedFile, settingsFilePath } from "../../integrations/files/mod.ts";
import { checkPolicy, type FilePolicy, followPolicy } from "../../integrations/policy_files/mod.ts";
import { type Follower, followSettingsFile } from "../../integrations/settings_files/mod.ts";
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
export function policyFilePath(config: Config): string {
  return settingsFilePath(config, "policy");
}

/** Reads the file, and puts nothing in force. @throws {BadFile} */
export function checkPolicyFile(path: string): void {
  checkPolicy(path, readPolicyFile);
}

/** Follows the file, as {@linkcode followPolicy} does. */
export async function followPolicyFile(follower: Follower): Promise<FollowedFile> {
  return await followPolicy({ name: "policy", policy: POLICY, read: readPolicyFile }, follower);
}

/**
 * Puts the file of a worker's machine, as {@linkcode followSettingsFile} does. The engine, which may be on another machine, makes
 * it the policy.
 */
export async function putPolicyFile(follower: Follower): Promise<FollowedFile> {
  return await followSettingsFile({ name: "policy", check: checkPolicyFile }, follower);
}

/** Returns the names of the fields that differ; their values stay private. */
function changedFields(before: Policy, after: Policy): string[] {
  const names = Object.keys(after.bounds) as (keyof Policy["bounds"])[];
  const bounds = names.filter((name) => before.bounds[name] !== after.bounds[name]);
  const isSame = JSON.stringify(before.freezes) === JSON.stringify(after.freezes);
  return isSame ? bounds : [...bounds, "freezes"];
}
