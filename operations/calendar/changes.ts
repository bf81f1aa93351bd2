import { z } from "zod";
import { operation, type Platform, unknownRecord } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  assertFree,
  bookEvent,
  cancelBooking,
  type EventRequest,
  planEvent,
} from "./booking/mod.ts";
import { getContact } from "../../store/crm/mod.ts";
import { type EventRecord, getEvent } from "../../store/calendar/mod.ts";
import { assertMayHold, Event, EVENT_FIELDS, EventId, exampleEvent, toEvent } from "./_event.ts";

const Input = z.object(EVENT_FIELDS);

/** Books an event. */
export const createEvent = operation({
  name: "calendar.create",
  group: "people",
  summary: "Book an event",
  description:
    "Busy time is exclusive within a calendar: of any number of calls for one time one succeeds, and the others get 409 with " +
    "the events in the way as `conflicts`. A recurring event takes the time of all its occurrences that are booked " +
    "ahead, or none. What an event says stays private; the fact that it was booked is sealed.",
  effect: "write",
  access: "key",
  input: Input,
  output: Event,
  rest: { calendar_create: "POST /v1/calendar/events" },
  presentation: { hints: { destructive: false }, errors: ["Conflict", "Forbidden", "NotFound"] },
  governance: {
    rule: "key-decides",
    async check(input, { store, caller }) {
      assertMayHold(input.kind, caller);
      await requireContact(store, input.contact_id);
      const { event, occurrences } = planEvent(toRequest(input), new Date());
      await assertFree(store.db, event, occurrences);
    },
  },
  durability: { sealsItself: true, commits: true },
  example: {
    input: {
      title: exampleEvent.title,
      start: "2026-07-06T09:00",
      duration_minutes: 30,
      time_zone: exampleEvent.time_zone,
      rrule: exampleEvent.rrule,
      location: exampleEvent.location,
      attendees: exampleEvent.attendees,
    },
    output: exampleEvent,
  },
  run: async (input, { store, caller, decisionId, commit }) => {
    assertMayHold(input.kind, caller);
    await requireContact(store, input.contact_id);
    return await commit(async (trx) => {
      const booked = await bookEvent(trx, toRequest(input), {
        id: `EVT-${idOfCall(decisionId, 12)}`,
        actor: `key:${caller.keyId}`,
        principal: caller.principal,
      });
      return toEvent(booked);
    });
  },
});

/** Cancels an event. */
export const deleteEvent = operation({
  name: "calendar.delete",
  group: "people",
  summary: "Cancel an event with all its occurrences",
  description:
    "Its time is free at once. The event itself stays as a record, and the feed tells calendar programs that it is cancelled.",
  effect: "write",
  access: "key",
  input: z.object({ event_id: EventId }),
  output: Event,
  rest: { calendar_delete: "DELETE /v1/calendar/events/{event_id}" },
  presentation: { hints: { destructive: true }, errors: ["Conflict", "Forbidden", "NotFound"] },
  governance: {
    rule: "key-decides",
    async check({ event_id }, { store, caller }) {
      const { kind, cancelledAt } = await requireEvent(store, event_id);
      assertMayHold(kind, caller);
      if (cancelledAt) throw alreadyCancelled(event_id);
    },
  },
  durability: { sealsItself: true, commits: true },
  example: {
    input: { event_id: exampleEvent.event_id },
    output: { ...exampleEvent, sequence: 1, cancelled_at: "2026-07-02T08:00:00.000Z" },
  },
  run: async ({ event_id }, { store, caller, commit }) => {
    assertMayHold((await requireEvent(store, event_id)).kind, caller);
    return await commit(async (trx) => {
      const who = { actor: `key:${caller.keyId}`, principal: caller.principal };
      const cancelled = await cancelBooking(trx, event_id, who);
      if (!cancelled) throw alreadyCancelled(event_id);
      return toEvent(cancelled);
    });
  },
});

function toRequest(input: z.output<typeof Input>): EventRequest {
  const { duration_minutes, time_zone, contact_id, ...fields } = input;
  return {
    ...fields,
    durationMinutes: duration_minutes,
    timeZone: time_zone,
    contactId: contact_id,
  };
}

async function requireEvent({ db }: Platform["store"], id: string): Promise<EventRecord> {
  const event = await getEvent(db, id);
  if (!event) throw await unknownRecord(db, "event", id, "GET /api/calendar/events lists them");
  return event;
}

async function requireContact({ db }: Platform["store"], id: string | null): Promise<void> {
  if (id !== null && !await getContact(db, id)) {
    throw await unknownRecord(db, "contact", id);
  }
}

function alreadyCancelled(id: string): Problem {
  return new Problem("Conflict", `Cannot cancel ${id}: it is cancelled already`);
}
