/**
 * The built-in ticket system: tickets of the platform's own store, their receipts, and drafts of their postmortems.
 *
 * ```ts
 * const ticket = await requireTicket(store, "INC-4f1d22a90b7c");
 * const markdown = await draftPostmortem(store, ticket, "https://ledger.example.com");
 * ```
 *
 * Doesn't trust: what people and tools have written into a ticket; a postmortem escapes it.
 * @module
 */
export { describeEvents } from "./_postmortem_timeline.ts";
export { draftPostmortem, readFacts } from "./postmortem.ts";
export { formatPostmortem, type PostmortemFacts } from "./postmortem_text.ts";
export { tellStory } from "./story.ts";
export { checkTicketReceipt, isReceiptAbout, setTicketReceipt } from "./receipts.ts";
export { embeddedReceipt, requireTicket } from "./tickets.ts";
export { timelineOf } from "./timeline.ts";
