/**
 * Policies that the operator sets by files: each change is a new version, and sealed.
 *
 * ```ts
 * const followed = await followPolicy({ name: "shield", path, policy: SHIELD, read }, store, log);
 * ```
 *
 * @module
 */
export {
  checkPolicy,
  type FilePolicy,
  followPolicy,
  logPolicyChange,
  putPolicyInForce,
} from "./policy_files.ts";
