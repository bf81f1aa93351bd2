/**
 * PostgreSQL: connections by role, migrations, notifications, and texts that payloads name. The statements on the tables
 * stand in the folders here, by subject; those on the ledger's in `ledger/`.
 *
 * ```ts
 * const store = openStore(url, "worker");
 * const db = store.asPlatform();
 * await db.transaction(async (trx) => {
 *   if (await openTicket(trx, ticket)) await addTicketEvent(trx, ticket.id, { key: "opened", kind: "opened" });
 * });
 * ```
 *
 * Trusts: the server. The ledger doesn't: its receipts prove themselves (see `ledger/`).
 * @module
 */
export { ERASABLE } from "./_erasable.ts";
export { batch } from "./batch.ts";
export { keepComposedTexts, recallComposedTexts } from "./composed_texts.ts";
export { type Commitment, commitTo, computeCommitment, makeSalt } from "./commitment.ts";
export {
  type Db,
  inTenant,
  openStore,
  type Row,
  type Store,
  WrongDatabaseRole,
} from "./connection.ts";
export { dumpDatabase, loadDatabase } from "./dump.ts";
export { normalizeEmail } from "./email.ts";
export { type Holder, HOLDER_LOCK, isHolderGone, openHolder } from "./holder.ts";
export { fingerprintFault, keyedHash, keyedHashWithin } from "./keyed_hash.ts";
export { listen, type Listener } from "./listen.ts";
export { migrate } from "./migrate.ts";
export { requirePooler, UnusablePooler } from "./pooler.ts";
export { DatabaseNotReady, requireDatabase, requireReady, SchemaTooNew } from "./readiness.ts";
export { listNewestIds, RECORD_KINDS, type RecordKind } from "./record_ids.ts";
export { getPrivateTexts, prunePrivateTexts, putPrivateTexts } from "./private_texts.ts";
export { mayReadSecret } from "./rights/mod.ts";
export { createDatabaseSql, createRolesSql, FUNCTION_OWNERS, type Role, ROLES } from "./roles.ts";
