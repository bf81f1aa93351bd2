/**
 * Policies that the operator sets by files: each change is a new version, and sealed.
 *
 * ```ts
 * const followed = await followPolicy({ path, name: "shield's file", policy: SHIELD, read }, store, log);
 * ```
 *
 * @module
 */
export {
  type FilePolicy,
  followPolicy,
  logPolicyChange,
  putPolicyInForce,
} from "./policy_files.ts";
