/**
 * Keys, tenants and their tokens.
 *
 * ```ts
 * const keys = await findValidKeys(db, ids);
 * ```
 * @module
 */
export {
  expireKey,
  findKeyById,
  findKeyOfPerson,
  findKeys,
  findValidKeys,
  getPrincipal,
  hasAdminKey,
  hashKey,
  isKeyShaped,
  issueKey,
  type KeyListing,
  type KeyReceipt,
  type KeyRecord,
  KEYS_CHANGED,
  listKeys,
  listUnusedKeys,
  makeKey,
  type NewKey,
  revokeKey,
  touchKeys,
} from "./keys.ts";
export {
  findTenantToken,
  findTenantTokenById,
  getTenantToken,
  replaceTenantToken,
  revokeTenantTokens,
  type TenantToken,
} from "./tenant_tokens.ts";
export {
  addTenant,
  ensureTenant,
  getTenantRecord,
  listTenantRecords,
  listTenants,
  listWatchedTenants,
  markTenantFailed,
  markTenantSynced,
  type TenantRecord,
} from "./tenants.ts";
