import { say } from "../../../contract/domain/mod.ts";
import { randomBytes } from "node:crypto";
import { printTime, Problem } from "../../../contract/mod.ts";
import { requestSeal } from "../../../ledger/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { addMessage } from "../../../store/notices/mod.ts";
import {
  type BusySpan,
  cancelEvent,
  type EventRecord,
  findBusySpans,
  lockCalendar,
  type NewEvent,
  putEvent,
  type Span,
} from "../../../store/calendar/mod.ts";
import { type EventRequest, planEvent } from "./plan.ts";

/** PostgreSQL's code of a violated exclusion constraint. */
const EXCLUSION_VIOLATION = "23P01";

/** Who books, and under which id. */
export interface Booking {
  /** `EVT-` and 12 hex characters. Default: a new one. */
  readonly id?: string;
  /** Actor in the receipt: `key:<id>`, or a part of the platform. */
  readonly actor: string;
  /** Person or program, for the feed. */
  readonly principal: string;
}

/**
 * Books an event: stores it with its occurrences, requests its receipt and tells the feed, in the caller's transaction.
 *
 * @param trx a transaction
 * @throws {InvalidInput} a field is wrong
 * @throws {Problem} `Conflict`: its time is taken; the body's `conflicts` say by what
 */
export async function bookEvent(
  trx: Db,
  request: EventRequest,
  { id = `EVT-${randomBytes(6).toString("hex")}`, actor, principal }: Booking,
): Promise<EventRecord> {
  const now = await lockCalendar(trx, request.calendar ?? "main");
  const { event, occurrences } = planEvent(request, now);
  await assertFree(trx, event, occurrences);
  const uid = `${id.toLowerCase()}-${randomBytes(8).toString("hex")}@sealoop`;
  const stored = await store(trx, { ...event, id, uid, createdBy: actor }, occurrences);
  await requestSeal(trx, {
    category: "calendar_booked",
    actor,
    subject: id,
    action: "calendar.create",
    outcome: "booked",
    details: {
      kind: event.kind,
      busy: event.busy,
      recurs: event.rrule !== null,
      occurrences: occurrences.length,
    },
    evidence: { event: JSON.stringify(textOf(stored)) },
  });
  await addMessage(trx, {
    kind: "event.booked",
    from: principal,
    subject: say`${NAMES[event.kind]}: ${event.title}`,
    text: describe(stored),
    refs: { event_id: id },
  });
  return stored;
}

/**
 * Cancels an event with all its occurrences, requests the receipt and tells the feed, in the caller's transaction.
 *
 * @returns undefined: there is none to cancel
 */
export async function cancelBooking(
  trx: Db,
  id: string,
  { actor, principal }: Omit<Booking, "id">,
): Promise<EventRecord | undefined> {
  const event = await cancelEvent(trx, id);
  if (!event) return undefined;
  await requestSeal(trx, {
    category: "calendar_cancelled",
    actor,
    subject: id,
    action: "calendar.delete",
    outcome: "cancelled",
    details: { kind: event.kind, sequence: event.sequence },
  });
  await addMessage(trx, {
    kind: "event.cancelled",
    from: principal,
    subject: say`Cancelled: ${event.title}`,
    text: describe(event),
    refs: { event_id: id },
  });
  return event;
}

/** Refuses occurrences whose time is taken. @throws {Problem} `Conflict` */
export async function assertFree(
  db: Db,
  { busy, calendar, timeZone }: Pick<NewEvent, "busy" | "calendar" | "timeZone">,
  occurrences: readonly Span[],
): Promise<void> {
  if (!busy) return;
  const taken = await findBusySpans(db, calendar, occurrences);
  if (taken.length > 0) throw timeTaken(calendar, timeZone, taken);
}

/** Stores an event. The constraint decides, whatever was read before. */
async function store(trx: Db, event: NewEvent, occurrences: readonly Span[]): Promise<EventRecord> {
  try {
    return await putEvent(trx, event, occurrences);
  } catch (error) {
    if ((error as { code?: unknown }).code !== EXCLUSION_VIOLATION) throw error;
    throw timeTaken(event.calendar, event.timeZone, []);
  }
}

function timeTaken(calendar: string, timeZone: string, taken: readonly BusySpan[]): Problem {
  const conflicts = taken.map(({ eventId, title, start, end }) => ({
    event_id: eventId,
    title,
    start: printTime(start, timeZone),
    end: printTime(end, timeZone),
  }));
  const [first] = conflicts;
  const by = first ? ` by ${first.event_id}, ${first.start} to ${first.end}` : "";
  const detail = `The calendar ${calendar} is busy at that time${by}; choose another time, or ` +
    "book it with busy: false";
  return new Problem("Conflict", detail, { body: { detail, conflicts } });
}

const NAMES = { meeting: "Appointment", freeze: "Change freeze", maintenance: "Maintenance" };

function describe({ start, end, timeZone, rrule, services, kind, location }: EventRecord): string {
  const when = `${printTime(start, timeZone)} to ${printTime(end, timeZone)} (${timeZone})`;
  const repeats = rrule ? `, ${rrule}` : "";
  const where = location ? `, ${location}` : "";
  const held = kind !== "maintenance"
    ? ""
    : `. Repairs of ${services.join(", ") || "all services"} wait until its end`;
  const frozen = kind === "freeze" ? ". Each change needs a person meanwhile" : "";
  return when + repeats + where + held + frozen;
}

/** Returns what an event says, which stays private. */
function textOf({ title, location, attendees, start, end, timeZone, rrule, services }: NewEvent) {
  return { title, location, attendees, start, end, timeZone, rrule, services };
}
