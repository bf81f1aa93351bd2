import type { Db } from "../connection.ts";
import { type InForce, mergeInForce } from "./merge.ts";
import { type CatalogueChanges, compareRunbooks } from "./runbooks.ts";

/** A script for devices in one version. */
export interface ScriptRelease {
  readonly name: string;
  readonly version: number;
  readonly origin: "shipped" | "user";
  /** Over the bytes of its file. */
  readonly sha256: string;
  /** `host:path` of the folder that has brought it; empty: it is shipped. */
  readonly source: string;
  readonly document: unknown;
  /** Receipt that releases it. */
  readonly receiptId: string;
  /** Of that receipt's commitment to it, 32 bytes. */
  readonly salt: Buffer;
}

/** Key of the advisory lock under which scripts are compared, as several workers start at once. */
const LOCK = 7_365_616_113;

/**
 * Releases these scripts, as {@linkcode mergeInForce} says. Earlier versions stay readable by their hash. Must run in a
 * transaction.
 *
 * @param source folder of the user's own; undefined: it is missing
 * @returns what changed, by name, and what other folders have in force
 */
export async function replaceScripts(
  trx: Db,
  scripts: readonly ScriptRelease[],
  source: string | undefined,
): Promise<CatalogueChanges> {
  await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  const active = await trx.query<InForce>(
    "SELECT name, sha256, origin, source FROM scripts WHERE active",
  );
  const { put, kept } = mergeInForce(active, scripts, source);
  const changes = compareRunbooks(active, [...put, ...kept]);
  const names = new Set(changes.map(({ name }) => name));
  await trx.execute(
    "UPDATE scripts SET active = false, changed_at = now() WHERE active AND name = ANY ($1::text[])",
    [[...names]],
  );
  await trx.execute(
    `INSERT INTO scripts (name, version, origin, source, sha256, document, active, release_receipt, release_salt)
     SELECT name, version, origin, source, sha256, document, true, "receiptId", decode(salt, 'hex')
     FROM jsonb_to_recordset($1) AS r (name text, version integer, origin text, source text, sha256 text,
       document jsonb, "receiptId" text, salt text)
     ON CONFLICT (sha256) DO UPDATE SET active = true, source = excluded.source, changed_at = now(),
       release_receipt = excluded.release_receipt, release_salt = excluded.release_salt`,
    [JSON.stringify(
      put.filter(({ name }) => names.has(name))
        .map((script) => ({ ...script, salt: script.salt.toString("hex") })),
    )],
  );
  await trx.execute(
    `UPDATE scripts SET source = r.source FROM jsonb_to_recordset($1) AS r (sha256 text, source text)
     WHERE active AND scripts.sha256 = r.sha256 AND scripts.source <> r.source`,
    [JSON.stringify(put.map(({ sha256, source }) => ({ sha256, source })))],
  );
  return { changes, kept };
}

const COLUMNS = `name, version, origin, source, sha256, document, release_receipt AS "receiptId",
  release_salt AS salt`;

/** Returns a script by the hash of its file, also where another version is in force by now; undefined: it never was. */
export async function findScriptVersion(
  db: Db,
  sha256: string,
): Promise<ScriptRelease | undefined> {
  return await db.first<ScriptRelease>(`SELECT ${COLUMNS} FROM scripts WHERE sha256 = $1`, [
    sha256,
  ]);
}

/** Returns a released script by its name, or undefined. */
export async function getScript(db: Db, name: string): Promise<ScriptRelease | undefined> {
  return await db.first<ScriptRelease>(
    `SELECT ${COLUMNS} FROM scripts WHERE active AND name = $1`,
    [name],
  );
}

/** Lists the released scripts by name. */
export async function listScripts(db: Db): Promise<ScriptRelease[]> {
  return await db.query<ScriptRelease>(
    `SELECT ${COLUMNS} FROM scripts WHERE active ORDER BY name`,
  );
}
