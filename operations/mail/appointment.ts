import { z } from "zod";
import { checkMail, type MailParts, sendMail } from "./sending/mod.ts";
import { type Context, operation, unknownRecord } from "../../calls/mod.ts";
import { idOfCall, notNoted } from "../../calls/recover/mod.ts";
import { printTime } from "../../contract/mod.ts";
import {
  assertFree,
  bookEvent,
  cancelBooking,
  type EventRequest,
  planEvent,
  printInvitation,
} from "../calendar/booking/mod.ts";
import type { Store } from "../../store/mod.ts";
import { getCallEffects, noteCallEffects } from "../../store/calls/mod.ts";
import type { Contact } from "../../contract/records/mod.ts";
import { addActivity, getContact } from "../../store/crm/mod.ts";
import { type EventRecord, getEvent } from "../../store/calendar/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";
import { getEmail } from "../../store/mail/mod.ts";

const Input = z.object({
  contact_id: z.string().regex(/^CON-[0-9a-f]{12}$/, "Expected CON- and 12 hex digits")
    .describe("The contact who is invited"),
  start: z.string().min(10).max(40).describe(
    "ISO 8601 with offset, or the wall clock of the time zone: 2026-07-06T09:00",
  ),
  duration_minutes: z.number().int().min(5).max(1_440).default(30).describe("Its length"),
  time_zone: z.string().max(100).default("UTC").describe("IANA name: Europe/Vienna"),
});

/** Books an appointment with a contact. */
export const bookAppointment = operation({
  name: "mail.appointment",
  group: "crm",
  summary: "Book an appointment with a contact, and invite the contact by mail",
  description:
    "The time is exclusive in the calendar `main`. The invitation is a mail that calendar programs understand (iTIP); it " +
    "is sent like any other mail, at most once.",
  effect: "run",
  access: "key",
  input: Input,
  output: z.object({
    event_id: z.string().describe("The event in the calendar"),
    start: Timestamp,
    end: Timestamp,
    uid: z.string().describe("Its id in calendar programs"),
    email_id: z.string().describe("The invitation"),
  }),
  tool: { crm_book_appointment: FULL },
  presentation: {
    toolText: {
      crm_book_appointment:
        "The time is exclusive in the calendar `main`; the invitation is sent like any other mail.",
    },
    hints: { destructive: false, openWorld: true },
    errors: ["Conflict", "Denied", "NotConfigured", "NotFound", "Unavailable"],
  },
  governance: {
    rule: "reviewed-mail",
    async check(input, context) {
      const contact = await requireContact(context.store, input.contact_id);
      await checkMail(context, { to: contact.email, kind: "invitation" });
      const { event, occurrences } = planEvent(toRequest(input, contact), new Date());
      await assertFree(context.store.db, event, occurrences);
    },
  },
  durability: {
    receipt: (output) => {
      const { event_id, email_id } = output as { event_id: string; email_id: string };
      return { event_id, email_id };
    },
    async recover(call, platform) {
      const { db } = platform.store;
      const effect = await getCallEffects(db, call.decisionId);
      if (!effect) return notNoted(call);
      const { ids, output } = effect;
      const event = (await getEvent(db, ids.event_id!))!;
      if (event.cancelledAt) {
        // Without a mail, it was taken back.
        if (!await getEmail(db, emailIdOf(event))) return { state: "not_done" };
      } else {
        const { principal, key_id } = output as { principal: string; key_id: string | null };
        await invite(platform, event, { principal, keyId: key_id }); // once, by the event's id
      }
      return { state: "done", ids, output: toOutput(event) };
    },
  },
  example: {
    input: {
      contact_id: "CON-5b1e09c77a42",
      start: "2026-07-06T09:00",
      duration_minutes: 30,
      time_zone: "Europe/Vienna",
    },
    output: {
      event_id: "EVT-2f9d01b3c7aa",
      start: "2026-07-06T07:00:00.000Z",
      end: "2026-07-06T07:30:00.000Z",
      uid: "evt-2f9d01b3c7aa-0c1d2e3f4a5b6c7d@sealoop",
      email_id: "EML-2f9d01b3c7aa",
    },
  },
  async run(input, context) {
    const { store, caller, decisionId } = context;
    const contact = await requireContact(store, input.contact_id);
    await checkMail(context, { to: contact.email, kind: "invitation" });
    const event = await store.db.transaction(async (trx) => {
      const booked = await bookEvent(trx, toRequest(input, contact), {
        id: `EVT-${idOfCall(decisionId, 12)}`,
        actor: `key:${caller.keyId}`,
        principal: caller.principal,
      });
      await addActivity(trx, {
        kind: "appointment.booked",
        contactId: contact.contact_id,
        actor: `key:${caller.keyId}`,
        summary: booked.id,
      });
      const who = { principal: caller.principal, key_id: caller.keyId };
      await noteCallEffects(trx, decisionId, { event_id: booked.id }, who);
      return booked;
    });
    try {
      await invite(context, event, caller);
    } catch (error) {
      if (!await getEmail(store.db, emailIdOf(event))) {
        await takeBack(context, event);
        throw error;
      } // else its workflow has begun, and only the answer was lost
    }
    return toOutput(event);
  },
});

/** Cancels a booking without an invitation, so that the call may be repeated. */
async function takeBack(
  { store, caller }: Pick<Context, "store" | "caller">,
  { id }: EventRecord,
): Promise<void> {
  const who = { actor: `key:${caller.keyId}`, principal: caller.principal };
  await store.db.transaction((trx) => cancelBooking(trx, id, who));
}

/** Sends the invitation, once. */
async function invite(
  parts: MailParts,
  event: EventRecord,
  { principal, keyId }: { readonly principal: string; readonly keyId: string | null },
): Promise<void> {
  const contact = await requireContact(parts.store, event.contactId!);
  const { SEALOOP_MAIL_FROM: organizer } = parts.config.settings;
  const when = `${printTime(event.start, event.timeZone)} (${event.timeZone})`;
  await sendMail(parts, {
    id: emailIdOf(event),
    kind: "invitation",
    to: contact.email,
    subject: `Invitation: ${event.title}`,
    body: `Hello ${contact.name},\n\nthis is an invitation to an appointment on ${when}.`,
    invitation: { ics: printInvitation(event, { organizer, attendee: contact.email }) },
    askedBy: principal,
    askedByKey: keyId,
  });
}

const emailIdOf = ({ id }: EventRecord): string => id.replace(/^EVT/, "EML");

function toOutput(event: EventRecord) {
  const { id, start, end, uid } = event;
  return {
    event_id: id,
    start: start.toISOString(),
    end: end.toISOString(),
    uid,
    email_id: emailIdOf(event),
  };
}

function toRequest(
  { contact_id, start, duration_minutes, time_zone }: z.output<typeof Input>,
  { name, email }: Contact,
): EventRequest {
  return {
    title: `Appointment with ${name}`.replace(/\p{Cc}/gu, " ").slice(0, 200),
    start,
    durationMinutes: duration_minutes,
    timeZone: time_zone,
    contactId: contact_id,
    attendees: [email],
  };
}

async function requireContact({ db }: Store, id: string): Promise<Contact> {
  const contact = await getContact(db, id);
  if (contact) return contact;
  throw await unknownRecord(db, "contact", id);
}
