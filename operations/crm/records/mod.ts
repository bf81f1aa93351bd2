/**
 * Contacts and deals: changes with their activities and receipts.
 *
 * ```ts
 * await store.db.transaction((trx) => optOut(trx, contactId, { basis: "unsubscribe link", actor, action }));
 * const { allowed, reason } = await mayMail(store.db, "ada@example.com"); // of the store
 * ```
 *
 * @module
 */
export { recordChange } from "./activities.ts";
export { eraseContact, type Erasure, ErasureRefused, findContact } from "./erase.ts";
export { optIn } from "./opt_in.ts";
export { optOut } from "./opt_out.ts";
export { type Pipeline, readPipelines, statusOf } from "./pipelines.ts";
