import type { Db } from "../connection.ts";

/** A runbook in one version. */
export interface RunbookRecord {
  readonly name: string;
  readonly version: string;
  readonly origin: "shipped" | "user";
  /** Over the bytes of its file. */
  readonly sha256: string;
  readonly document: unknown;
}

/** A change of the runbooks in force. */
export interface RunbookChange {
  readonly name: string;
  /** `user` where either version is. */
  readonly origin: "shipped" | "user";
  /** Hash of the version before; null: it is new. */
  readonly before: string | null;
  /** Hash of the version in force; null: it was removed. */
  readonly after: string | null;
}

/** Key of the advisory lock under which runbooks are compared, as several workers start at once. */
const LOCK = 7_365_616_112;

/**
 * Puts exactly these runbooks in force. Earlier versions stay readable by their hash. Must run in a transaction.
 *
 * @returns what changed, by name
 */
export async function replaceRunbooks(
  trx: Db,
  runbooks: readonly RunbookRecord[],
): Promise<RunbookChange[]> {
  await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  const active = await trx.query<Pick<RunbookRecord, "name" | "sha256" | "origin">>(
    "SELECT name, sha256, origin FROM runbooks WHERE active",
  );
  const changes = compareRunbooks(active, runbooks);
  const outdated = changes.flatMap(({ before }) => before ?? []);
  await trx.execute(
    "UPDATE runbooks SET active = false, changed_at = now() WHERE sha256 = ANY ($1::text[])",
    [outdated],
  );
  const names = new Set(changes.map(({ name }) => name));
  await trx.execute(
    `INSERT INTO runbooks (name, version, origin, sha256, document, active)
     SELECT name, version, origin, sha256, document, true
     FROM jsonb_to_recordset($1) AS r (name text, version text, origin text, sha256 text, document jsonb)
     ON CONFLICT (sha256) DO UPDATE SET active = true, changed_at = now()`,
    [JSON.stringify(runbooks.filter(({ name }) => names.has(name)))],
  );
  return changes;
}

/** Returns the changes between what was in force and what shall be, by name. */
export function compareRunbooks(
  old: readonly Pick<RunbookRecord, "name" | "sha256" | "origin">[],
  current: readonly Pick<RunbookRecord, "name" | "sha256" | "origin">[],
): RunbookChange[] {
  const before = new Map(old.map((one) => [one.name, one]));
  const after = new Map(current.map((one) => [one.name, one]));
  return [...new Set([...before.keys(), ...after.keys()])].sort().flatMap((name) => {
    const [was, is] = [before.get(name), after.get(name)];
    if (was?.sha256 === is?.sha256) return [];
    const origin = was?.origin === "user" || is?.origin === "user" ? "user" : "shipped";
    return [{ name, origin, before: was?.sha256 ?? null, after: is?.sha256 ?? null }];
  });
}

/** Lists the runbooks in force, by name. */
export async function listRunbooks(
  db: Db,
): Promise<Pick<RunbookRecord, "name" | "version" | "origin">[]> {
  return await db.query(
    "SELECT name, version, origin FROM runbooks WHERE active ORDER BY name",
  );
}

/**
 * Records the hash of the allow-list of commands in force. Must run in a transaction.
 *
 * @returns the hash before; undefined: it is the same
 */
export async function replaceCommands(
  trx: Db,
  sha256: string,
): Promise<{ before: string | null } | undefined> {
  const known = await trx.first("SELECT sha256 FROM runbook_commands");
  if (known?.sha256 === sha256) return undefined;
  await trx.execute(
    `INSERT INTO runbook_commands (sha256) VALUES ($1)
     ON CONFLICT (one) DO UPDATE SET sha256 = excluded.sha256`,
    [sha256],
  );
  return { before: known?.sha256 ?? null };
}

/** Returns the values that a service gives to parameters of runbooks; empty: none. */
export async function getRunbookValues(
  db: Db,
  service: string,
): Promise<Readonly<Record<string, string | number | readonly string[]>>> {
  const row = await db.first("SELECT given FROM runbook_values WHERE service = $1", [service]);
  return row?.given ?? {};
}

/** Replaces the values that all services give to parameters of runbooks. */
export async function replaceRunbookValues(
  db: Db,
  given: Readonly<Record<string, object>>,
): Promise<void> {
  const values = JSON.stringify(given);
  await db.transaction(async (trx) => {
    await trx.execute(
      "DELETE FROM runbook_values WHERE service <> ALL ($1::text[])",
      [Object.keys(given)],
    );
    await trx.execute(
      `INSERT INTO runbook_values (service, given) SELECT key, value FROM jsonb_each($1)
       ON CONFLICT (tenant_id, service) DO UPDATE SET given = excluded.given`,
      [values],
    );
  });
}
