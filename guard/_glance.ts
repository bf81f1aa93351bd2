/** Policy, services, tickets and repairs, in one look at the store for all requests that wait for one. */
import { setImmediate as arrived } from "node:timers/promises";
import type { PolicyRecord, Store } from "../store/mod.ts";
import type { KnownService, Surroundings } from "./_surroundings.ts";

/** What a request wants to be looked up. */
export interface Sought {
  /** Words that may be names of services. */
  readonly names: readonly string[];
  readonly target: string | undefined;
  readonly ticketId: string | undefined;
}

/** What was seen, for several requests together. */
export interface Glance {
  /** In force; null: none was set. */
  readonly policy: PolicyRecord | null;
  /** By their names in lower case. */
  readonly services: ReadonlyMap<string, readonly KnownService[]>;
  readonly tickets: ReadonlyMap<string, NonNullable<Surroundings["ticket"]>>;
  /** Repairs within the last hour, by service, of those that are sought. */
  readonly repairs: ReadonlyMap<string, number>;
  /** … and of all services. */
  readonly allRepairs: number;
}

interface Waiting {
  readonly sought: Sought;
  resolve(glance: Glance): void;
  reject(error: unknown): void;
}

/** Most requests that look together. */
const TOGETHER = 64;

const LOOK = {
  name: "guard-glance",
  text: `
    WITH recent AS MATERIALIZED (
      SELECT service, coalesce(action_id, id) AS repair FROM effects
      WHERE intended_at > now() - interval '1 hour' AND state <> 'not_done' AND undoes IS NULL
    ), sought AS MATERIALIZED (
      SELECT id, service, status FROM tickets WHERE id = ANY ($3::text[])
    )
    SELECT
      (SELECT json_build_object('version', version, 'policy', policy, 'sha256', sha256)
       FROM guard_policies ORDER BY version DESC LIMIT 1) AS policy,
      (SELECT json_agg(json_build_object('name', name, 'host', host, 'status', status,
         'checkedAgo', extract(epoch FROM now() - checked_at)::float) ORDER BY name)
       FROM services WHERE name = ANY ($1::text[]) OR lower(name) = ANY ($1::text[])) AS services,
      (SELECT json_agg(sought) FROM sought) AS tickets,
      (SELECT json_object_agg(service, n) FROM (
         SELECT service, count(DISTINCT repair) AS n FROM recent
         WHERE lower(service) = ANY ($2::text[]) OR service IN (SELECT service FROM sought)
         GROUP BY service) AS counted) AS repairs,
      (SELECT count(DISTINCT repair)::int FROM recent) AS all_repairs`,
};

/** One row. */
interface Seen {
  readonly policy: PolicyRecord | null;
  readonly services: readonly KnownService[] | null;
  readonly tickets: readonly NonNullable<Surroundings["ticket"]>[] | null;
  readonly repairs: Readonly<Record<string, number>> | null;
  readonly all_repairs: number;
}

/**
 * Opens what looks. One look is under way at a time; requests that come meanwhile share the next, so that each sees the
 * store as it was after it had come.
 */
export function openGlances(store: Pick<Store, "pool">): (sought: Sought) => Promise<Glance> {
  let waiting: Waiting[] = [];
  let looking = false;

  async function lookAround(): Promise<void> {
    looking = true;
    while (waiting.length > 0) {
      await arrived(); // of requests that came at the same moment, some are still being read
      const together = waiting.slice(0, TOGETHER);
      waiting = waiting.slice(TOGETHER);
      try {
        const glance = await look(store, together.map(({ sought }) => sought));
        for (const { resolve } of together) resolve(glance);
      } catch (error) {
        for (const { reject } of together) reject(error);
      }
    }
    looking = false;
  }

  return (sought) =>
    new Promise((resolve, reject) => {
      waiting.push({ sought, resolve, reject });
      if (!looking) void lookAround();
    });
}

async function look({ pool }: Pick<Store, "pool">, all: readonly Sought[]): Promise<Glance> {
  const names = new Set(all.flatMap(({ names }) => names.flatMap((it) => [it, it.toLowerCase()])));
  const targets = all.flatMap(({ target }) => target?.toLowerCase() ?? []);
  const tickets = all.flatMap(({ ticketId }) => ticketId ?? []);
  const { rows: [row] } = await pool.query<Seen>({
    ...LOOK,
    values: [[...names], targets, tickets],
  });
  const services = new Map<string, KnownService[]>();
  for (const one of row!.services ?? []) {
    const name = one.name.toLowerCase();
    services.set(name, [...services.get(name) ?? [], one]);
  }
  return {
    policy: row!.policy,
    services,
    tickets: new Map(row!.tickets?.map((one) => [one.id, one])),
    repairs: new Map(Object.entries(row!.repairs ?? {})),
    allRepairs: row!.all_repairs,
  };
}
