/** Looks up policy, freezes, services, tickets and repairs: one statement for all requests that wait. */
import { batch, type Db } from "../../store/mod.ts";
import type { PolicyVersion } from "../../store/calls/mod.ts";
import type { Freeze } from "../../store/calendar/mod.ts";
import type { KnownService, KnownTicket } from "./_state.ts";

/** The names and ids that one request looks up. */
export interface LookupRequest {
  /** Words that may be names of services. */
  readonly names: readonly string[];
  readonly target: string | undefined;
  /** Names of units, containers, databases and hosts that a command acts on. */
  readonly actedOn: readonly string[];
  readonly ticketId: string | undefined;
}

/** The answer to all requests of one batch. */
export interface LookupResult {
  /** The policy in force; null: none was set. */
  readonly policy: PolicyVersion | null;
  /** Entries by name in lower case. */
  readonly services: ReadonlyMap<string, readonly KnownService[]>;
  /** Services that are restarted by such a name, or run on such a host. */
  readonly behind: readonly KnownService[];
  /** Ids of devices. */
  readonly devices: ReadonlySet<string>;
  readonly tickets: ReadonlyMap<string, KnownTicket>;
  /** Repairs within the last hour, by service, of the services asked for. */
  readonly repairs: ReadonlyMap<string, number>;
  /** Repairs within the last hour, of all services. */
  readonly allRepairs: number;
  /** Change freezes that hold now, by the database's clock. */
  readonly freezes: readonly Freeze[];
}

const MAX_BATCH = 64;

const LOOK_UP = {
  name: "guard_lookup",
  text: `
    WITH described AS NOT MATERIALIZED (
      SELECT name, host, json_build_object('name', name, 'host', host, 'status', status, 'restart', restart->'command',
        'checkedAgo', extract(epoch FROM now() - checked_at)::float) AS entry, restart
      FROM services
    ), recent AS MATERIALIZED (
      SELECT service, coalesce(action_id, id) AS repair FROM effects
      WHERE intended_at > now() - interval '1 hour' AND state <> 'not_done' AND undoes IS NULL
    ), asked_tickets AS MATERIALIZED (
      SELECT id, service, status FROM tickets WHERE id = ANY ($3::text[])
    )
    SELECT
      (SELECT json_build_object('version', version, 'policy', policy, 'commitment', commitment)
       FROM guard_policies ORDER BY version DESC LIMIT 1) AS policy,
      (SELECT json_agg(entry ORDER BY name) FROM described
       WHERE name = ANY ($1::text[]) OR lower(name) = ANY ($1::text[])) AS services,
      (SELECT json_agg(entry ORDER BY name) FROM described
       WHERE cardinality($4::text[]) > 0
         AND (host = ANY ($4::text[]) OR jsonb_typeof(restart->'command') = 'array' AND restart->'command' ?| $4::text[])
      ) AS behind,
      (SELECT json_agg(id) FROM devices WHERE id = ANY ($4::text[])) AS devices,
      (SELECT json_agg(asked_tickets) FROM asked_tickets) AS tickets,
      (SELECT json_object_agg(service, n) FROM (
         SELECT service, count(DISTINCT repair) AS n FROM recent
         WHERE lower(service) = ANY ($2::text[]) OR service IN (SELECT service FROM asked_tickets)
         GROUP BY service) AS counted) AS repairs,
      (SELECT count(DISTINCT repair)::int FROM recent) AS all_repairs,
      (SELECT json_agg(f) FROM active_freezes() AS f) AS freezes`,
};

/** The row that {@linkcode LOOK_UP} gives. */
interface LookupRow {
  readonly policy: PolicyVersion | null;
  readonly services: readonly KnownService[] | null;
  readonly behind: readonly KnownService[] | null;
  readonly devices: readonly string[] | null;
  readonly tickets: readonly KnownTicket[] | null;
  readonly repairs: Readonly<Record<string, number>> | null;
  readonly all_repairs: number;
  readonly freezes:
    | readonly { readonly event_id: string | null; reason: string; ends_at: string }[]
    | null;
}

/** Makes a function that looks up what a request asks for, together with the tenant's other requests of that moment. */
export function createLookup(db: Db): (request: LookupRequest) => Promise<LookupResult> {
  return batch(async (requests: LookupRequest[]) => {
    const result = await lookUp(db, requests);
    return requests.map(() => result);
  }, { maxSize: MAX_BATCH });
}

async function lookUp(db: Db, requests: readonly LookupRequest[]): Promise<LookupResult> {
  const names = new Set(
    requests.flatMap(({ names }) => names.flatMap((name) => [name, name.toLowerCase()])),
  );
  const targets = requests.flatMap(({ target }) => target?.toLowerCase() ?? []);
  const ticketIds = requests.flatMap(({ ticketId }) => ticketId ?? []);
  const actedOn = requests.flatMap(({ actedOn }) =>
    actedOn.flatMap((name) => [name, `${name}.service`])
  );
  const row = (await db.first<LookupRow>(LOOK_UP, [[...names], targets, ticketIds, actedOn]))!;
  const services = new Map<string, KnownService[]>();
  for (const service of row.services ?? []) {
    const name = service.name.toLowerCase();
    services.set(name, [...services.get(name) ?? [], service]);
  }
  return {
    policy: row.policy,
    services,
    behind: row.behind ?? [],
    devices: new Set(row.devices),
    tickets: new Map(row.tickets?.map((ticket) => [ticket.id, ticket])),
    repairs: new Map(Object.entries(row.repairs ?? {})),
    allRepairs: row.all_repairs,
    freezes: (row.freezes ?? []).map(({ event_id, reason, ends_at }) => ({
      eventId: event_id,
      reason,
      end: new Date(ends_at),
    })),
  };
}
