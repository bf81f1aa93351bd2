import { say } from "../../../contract/domain/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { addMessage } from "../../../store/notices/mod.ts";
import {
  type EventRecord,
  findBusySpans,
  getEvent,
  listEventsToExtend,
  lockCalendar,
  putOccurrences,
  recordExtension,
  type Span,
} from "../../../store/calendar/mod.ts";
import { bookingHorizon } from "./plan.ts";
import { expand } from "./recurrence.ts";
import { printTime } from "../../../contract/mod.ts";

/** Series that are extended at a time. */
const MAX_SERIES = 20;
const DAY_MS = 24 * 60 * 60_000;

/**
 * Books further occurrences of a tenant's series, once a day each. One whose time is taken by then is left out, and the feed
 * is told. Safe to repeat, and to run in several workers at once.
 *
 * @returns how many occurrences were left out
 */
export async function extendSeries(db: Db): Promise<number> {
  const now = (await db.first<{ now: Date }>("SELECT now()"))!.now;
  const before = new Date(bookingHorizon({ start: now }, now).getTime() - DAY_MS);
  let skipped = 0;
  for (const { id, calendar } of await listEventsToExtend(db, before, MAX_SERIES)) {
    skipped += await db.transaction(async (trx) => {
      await lockCalendar(trx, calendar);
      const event = await getEvent(trx, id);
      if (!event?.expandedUntil || event.cancelledAt || event.expandedUntil >= before) return 0; // another worker did
      return await extend(trx, event, event.expandedUntil, bookingHorizon(event, now));
    });
  }
  return skipped;
}

/** @returns how many occurrences were left out */
async function extend(trx: Db, event: EventRecord, from: Date, to: Date): Promise<number> {
  const { spans, hasMore } = expand(event, { start: from, end: to });
  const taken = event.busy ? await listTaken(trx, event.calendar, spans) : [];
  await putOccurrences(trx, event, spans.filter((span) => !taken.includes(span)));
  const starts = taken.map(({ start }) => start);
  await recordExtension(trx, event.id, hasMore ? to : null, starts);
  for (const start of starts) {
    await addMessage(trx, {
      kind: "event.not_booked",
      from: "calendar",
      subject: say`Not booked: ${event.title}`,
      text: say`${event.id} does not take place at ${
        printTime(start, event.timeZone)
      }, as somebody else has booked that time before`,
      refs: { event_id: event.id },
    });
  }
  return starts.length;
}

/** Returns those spans that overlap busy time, or one of them before. */
async function listTaken(trx: Db, calendar: string, spans: readonly Span[]): Promise<Span[]> {
  const taken: Span[] = [];
  let lastEnd = new Date(0);
  for (const span of spans) {
    const isFree = span.start >= lastEnd &&
      (await findBusySpans(trx, calendar, [span])).length === 0;
    if (isFree) lastEnd = span.end;
    else taken.push(span);
  }
  return taken;
}
