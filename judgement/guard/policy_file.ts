/** The guardrails' policy file: its content is put in force as a new version, and sealed. */
import type { Logger } from "pino";
import { parse } from "yaml";
import type { FollowedFile } from "../../integrations/files/mod.ts";
import { type FilePolicy, followPolicy } from "../../integrations/policy_files/mod.ts";
import type { Store } from "../../store/mod.ts";
import { DEFAULT_POLICY, type Policy, readPolicy } from "./policy.ts";

const POLICY: FilePolicy<Policy> = {
  table: "guard_policies",
  subject: "guard-policy",
  actor: "engine",
  details: (policy, before = DEFAULT_POLICY) => ({
    diff_summary: changedFields(before, policy).join(", ") || "none",
  }),
};

/** Follows the file, as {@linkcode followPolicy} does. */
export async function followPolicyFile(
  path: string,
  store: Store,
  log: Logger,
): Promise<FollowedFile> {
  const name = "guardrails' policy file";
  const read = (text: string) => readPolicy(parse(text));
  return await followPolicy({ path, name, policy: POLICY, read }, store, log);
}

/** Returns the names of the fields that differ; their values stay private. */
function changedFields(before: Policy, after: Policy): string[] {
  const names = Object.keys(after.bounds) as (keyof Policy["bounds"])[];
  const bounds = names.filter((name) => before.bounds[name] !== after.bounds[name]);
  const isSame = JSON.stringify(before.freezes) === JSON.stringify(after.freezes);
  return isSame ? bounds : [...bounds, "freezes"];
}
