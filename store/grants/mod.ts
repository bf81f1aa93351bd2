/**
 * Standing grants and their uses.
 *
 * ```ts
 * const number = await takeGrantUse(trx, grant, decisionId);
 * ```
 * @module
 */
export {
  findGrantOfAct,
  getGrant,
  type GrantRecord,
  listGrants,
  listGrantsOfAction,
  putGrant,
  revokeGrant,
  takeGrantUse,
} from "./grants.ts";
