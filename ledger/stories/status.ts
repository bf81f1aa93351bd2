import { asCount, asText, type StoryReceipt } from "./receipt.ts";

/** Sightings of a service on one day, UTC. A period counts for the day in which it begins. */
interface StatusDay {
  readonly day: string;
  /** Milliseconds in which it was looked at; the rest of the day nobody knows. */
  readonly observed_ms: number;
  /** Milliseconds of these in which it was up. */
  readonly up_ms: number;
}

/** An incident of a public service. */
interface StatusIncident {
  readonly incident_id: string;
  readonly opened_at: string;
  /** Null: it is open. */
  readonly ended_at: string | null;
  /** Receipt of its end, else of its beginning. */
  readonly receipt_id: string;
}

/** Status of a service that is named in public, by its receipts. */
export interface ServiceStatus {
  /** `SVC-…` */
  readonly service_id: string;
  readonly name: string;
  /** False: the operator has made it private again. */
  readonly published: boolean;
  readonly observed_ms: number;
  readonly up_ms: number;
  /** Share of the observed time, 0 to 1; null: nothing was observed. */
  readonly uptime: number | null;
  /** End of the newest period that was observed; null: there is none. */
  readonly seen_at: string | null;
  /** Oldest first; days in which nothing was observed are not among them. */
  readonly days: readonly StatusDay[];
  /** Newest first. */
  readonly incidents: readonly StatusIncident[];
}

/** Categories of receipts by which an incident ends: it was healed, or its ticket closed. */
const ENDS: ReadonlySet<string> = new Set(["self_heal", "ticket_closed"]);

/**
 * Computes what receipts say of a public service. Anybody can do the same from the public chain.
 *
 * @param receipts that name it, or one of its incidents, in the order of the chain
 * @param window days, like `2026-07-01`, both included
 * @returns undefined: no receipt names it in public
 */
export function computeStatus(
  serviceId: string,
  receipts: readonly StoryReceipt[],
  window: { readonly from: string; readonly to: string },
): ServiceStatus | undefined {
  const own = receipts.filter(({ details }) => details.service_id === serviceId);
  const named = own.filter(({ category }) => category === "service_published");
  const last = named.findLast(({ outcome }) => outcome === "public");
  if (!last) return undefined;
  const days = daysOf(own, window);
  const observed_ms = days.reduce((sum, day) => sum + day.observed_ms, 0);
  const up_ms = days.reduce((sum, day) => sum + day.up_ms, 0);
  const seen = own.findLast(({ category }) => category === "service_observed");
  return {
    service_id: serviceId,
    name: asText(last.details.name),
    published: named.at(-1) === last,
    observed_ms,
    up_ms,
    uptime: observed_ms === 0 ? null : up_ms / observed_ms,
    seen_at: seen ? asText(seen.details.to) : null,
    days,
    incidents: incidentsOf(own, receipts, window),
  };
}

function daysOf(
  own: readonly StoryReceipt[],
  window: { readonly from: string; readonly to: string },
): StatusDay[] {
  const days = new Map<string, StatusDay>();
  for (const { category, details } of own) {
    const day = asText(details.from).slice(0, 10);
    if (category !== "service_observed" || day < window.from || day > window.to) continue;
    const { observed_ms = 0, up_ms = 0 } = days.get(day) ?? {};
    days.set(day, {
      day,
      observed_ms: observed_ms + (asCount(details.observed_ms) ?? 0),
      up_ms: up_ms + (asCount(details.up_ms) ?? 0),
    });
  }
  return [...days.values()].sort((a, b) => a.day < b.day ? -1 : 1);
}

function incidentsOf(
  own: readonly StoryReceipt[],
  receipts: readonly StoryReceipt[],
  window: { readonly from: string; readonly to: string },
): StatusIncident[] {
  const opened = own.filter(({ category, action, timestamp }) =>
    category === "ticket_opened" && action === "ticket.open" &&
    timestamp.slice(0, 10) >= window.from && timestamp.slice(0, 10) <= window.to
  );
  return opened.toReversed().map((opening) => {
    const end = receipts.find(({ category, subject, position }) =>
      ENDS.has(category) && subject === opening.subject && position > opening.position
    );
    return {
      incident_id: opening.subject,
      opened_at: opening.timestamp,
      ended_at: end?.timestamp ?? null,
      receipt_id: (end ?? opening).id,
    };
  });
}
