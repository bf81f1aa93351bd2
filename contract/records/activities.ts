import { z } from "zod";
import { ContactId } from "./contacts.ts";
import { DealId } from "./deals.ts";
import type { DeepReadonly } from "./deep_readonly.ts";
import { Timestamp } from "./texts.ts";

/** Kinds of activities. */
const KINDS = [
  "contact.created",
  "contact.updated",
  "contact.merged",
  "contact.consent",
  "contact.opted_out",
  "contact.erased",
  "contact.lead",
  "deal.created",
  "deal.updated",
  "deal.moved",
  "mail.sent",
  "mail.not_sent",
  "mail.unknown",
  "mail.received",
  "sequence.started",
  "sequence.ended",
  "appointment.booked",
] as const;

/** Something that was done about a contact or a deal. */
export const Activity = z.object({
  activity_id: z.string(),
  kind: z.enum(KINDS),
  contact_id: ContactId.nullable(),
  deal_id: DealId.nullable(),
  actor: z.string().describe("key:<id>, operator, or the part of the platform that did it"),
  summary: z.string(), // without personal text, as it outlasts the contact
  at: Timestamp,
  receipt_id: z.string().nullable(),
});

/** Something that was done about a contact or a deal. */
export type Activity = DeepReadonly<z.output<typeof Activity>>;
