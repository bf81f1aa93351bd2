/**
 * Schemas of records that both the store and interfaces have, with examples: types of the store, inputs and outputs of
 * operations are made from them.
 *
 * ```ts
 * type Contact = Readonly<z.output<typeof Contact>>; // of the store
 * output: Contact, // of an operation
 * ```
 *
 * A leaf: it imports `contract/domain/` alone. Workflows don't import it.
 * @module
 */
export { Activity } from "./activities.ts";
export { ApprovalGrounds, EvidenceRef, groundsOf } from "./approval_grounds.ts";
export { Contact, ContactFields, ContactId, exampleContact } from "./contacts.ts";
export { Deal, DealFields, DealId, exampleDeal } from "./deals.ts";
export type { DeepReadonly } from "./deep_readonly.ts";
export { exampleFilm, FILM_TEXTS, FilmFields, FilmSummary } from "./films.ts";
export { oneLine, text, Timestamp, trimmedText } from "./texts.ts";
