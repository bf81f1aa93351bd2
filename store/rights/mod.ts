/**
 * Rights of the roles of the database: what each process may do with tables and functions, and which receipts it may
 * request. Every start grants exactly these.
 *
 * ```ts
 * await grantRights(client); // connected as the owner
 * ```
 * @module
 */
export { SEAL_CATEGORIES } from "./categories.ts";
export { FUNCTIONS } from "./functions.ts";
export { grantRights } from "./grant.ts";
export type { Grant, Grantee } from "./grantees.ts";
export { mayReadSecret, type SecretPurpose, SECRETS } from "./secrets.ts";
export { RIGHTS } from "./tables.ts";
