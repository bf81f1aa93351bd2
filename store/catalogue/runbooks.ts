import type { Db } from "../connection.ts";
import { type InForce, mergeInForce } from "./merge.ts";

/** A runbook in one version. */
export interface RunbookRecord {
  readonly name: string;
  readonly version: string;
  readonly origin: "shipped" | "user";
  /** Over the bytes of its file. */
  readonly sha256: string;
  /** `host:path` of the folder that has brought it; empty: it is shipped. */
  readonly source: string;
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

/** Changes of what is in force, and what stays in force that other folders have brought. */
export interface CatalogueChanges {
  readonly changes: readonly RunbookChange[];
  readonly kept: readonly InForce[];
}

/** Key of the advisory lock under which runbooks are compared, as several workers start at once. */
const LOCK = 7_365_616_112;

/**
 * Puts these runbooks in force, as {@linkcode mergeInForce} says. Earlier versions stay readable by their hash. Must run in
 * a transaction.
 *
 * @param source folder of the user's own; undefined: it is missing
 * @returns what changed, by name, and what other folders have in force
 */
export async function replaceRunbooks(
  trx: Db,
  runbooks: readonly RunbookRecord[],
  source: string | undefined,
): Promise<CatalogueChanges> {
  await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  const active = await trx.query<InForce>(
    "SELECT name, sha256, origin, source FROM runbooks WHERE active",
  );
  const { put, kept } = mergeInForce(active, runbooks, source);
  const changes = compareRunbooks(active, [...put, ...kept]);
  const outdated = changes.flatMap(({ before }) => before ?? []);
  await trx.execute(
    "UPDATE runbooks SET active = false, changed_at = now() WHERE sha256 = ANY ($1::text[])",
    [outdated],
  );
  const names = new Set(changes.map(({ name }) => name));
  await trx.execute(
    `INSERT INTO runbooks (name, version, origin, source, sha256, document, active)
     SELECT name, version, origin, source, sha256, document, true
     FROM jsonb_to_recordset($1) AS r (name text, version text, origin text, source text, sha256 text, document jsonb)
     ON CONFLICT (sha256) DO UPDATE SET active = true, source = excluded.source, changed_at = now()`,
    [JSON.stringify(put.filter(({ name }) => names.has(name)))],
  );
  await trx.execute(
    `UPDATE runbooks SET source = r.source FROM jsonb_to_recordset($1) AS r (sha256 text, source text)
     WHERE active AND runbooks.sha256 = r.sha256 AND runbooks.source <> r.source`,
    [JSON.stringify(put.map(({ sha256, source }) => ({ sha256, source })))],
  );
  return { changes, kept };
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

/** Lists the runbooks in force with what their files say, by name. */
export async function listRunbookDocuments(
  db: Db,
): Promise<Pick<RunbookRecord, "origin" | "sha256" | "document">[]> {
  return await db.query("SELECT origin, sha256, document FROM runbooks WHERE active ORDER BY name");
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

/** Replaces the values that the services of one services file give to parameters of runbooks. */
export async function replaceRunbookValues(
  db: Db,
  given: Readonly<Record<string, object>>,
  source: string = "",
): Promise<void> {
  const values = JSON.stringify(given);
  await db.transaction(async (trx) => {
    await trx.execute(
      "DELETE FROM runbook_values WHERE source = $2 AND service <> ALL ($1::text[])",
      [Object.keys(given), source],
    );
    await trx.execute(
      `INSERT INTO runbook_values (service, source, given) SELECT key, $2, value FROM jsonb_each($1)
       ON CONFLICT (tenant_id, service) DO UPDATE SET given = excluded.given, source = excluded.source`,
      [values, source],
    );
  });
}
