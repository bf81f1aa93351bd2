/** The file of budgets for models: its content is put in force as a new version, and sealed. */
import type { Config } from "../../../config.ts";
import { type FollowedFile, settingsFilePath } from "../../../integrations/files/mod.ts";
import {
  checkPolicy,
  type FilePolicy,
  followPolicy,
} from "../../../integrations/policy_files/mod.ts";
import type { Follower } from "../../../integrations/settings_files/mod.ts";
import { type ModelPolicy, readModelPolicy } from "./policy.ts";

const POLICY: FilePolicy<ModelPolicy> = {
  table: "model_policies",
  subject: "model-policy",
  actor: "worker",
  details({ privacy, budgets: { tiers, keys, tenants } }) {
    const count = (entries: object) => Object.keys(entries).length;
    return { privacy: privacy.default, budgets: count(tiers) + count(keys) + count(tenants) };
  },
};

/** Returns the path of the file. */
export function modelFilePath(config: Config): string {
  return settingsFilePath(config, "models");
}

/** Reads the file, and puts nothing in force. @throws {BadFile} */
export function checkModelFile(path: string): void {
  checkPolicy(path, readModelPolicy);
}

/** Follows the file, as {@linkcode followPolicy} does. */
export async function followModelFile(follower: Follower): Promise<FollowedFile> {
  return await followPolicy({ name: "models", policy: POLICY, read: readModelPolicy }, follower);
}
