import type { SettingsFileName } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** A settings file, of one place where each has its own. */
export interface ConfigFile {
  readonly file: SettingsFileName;
  /** Empty: it is in force at all places. */
  readonly place: string;
}

/** A version that is in force. */
export interface ConfigInForce extends ConfigFile {
  /** From 1. */
  readonly version: number;
  /** Of the file's bytes, hex. */
  readonly sha256: string;
  readonly putAt: Date;
}

/** A version of a settings file. */
export interface ConfigVersion extends ConfigInForce {
  /** Of a folder: its files by name, as JSON. */
  readonly content: string;
  /** Place whose file was put; null: a command put it. */
  readonly fromPlace: string | null;
  readonly fromPath: string | null;
  /** User who ran the command; null: a file was put. */
  readonly putBy: string | null;
  readonly receiptId: string;
}

/** A version to put. */
export type NewConfigVersion = Omit<ConfigVersion, "version" | "putAt">;

/** A file of a place that differs from the version in force. */
export interface ConfigDrift {
  readonly name: SettingsFileName;
  /** Its name, which is private. */
  readonly place: string;
  /** Id of the place, as its receipts have it; null: it has none. */
  readonly placeId: string | null;
  readonly path: string;
  readonly since: Date;
  /** Version in force. */
  readonly version: number;
  readonly putAt: Date;
}

const COLUMNS =
  `file, place, version, sha256, content, from_place AS "fromPlace", from_path AS "fromPath",
  put_by AS "putBy", receipt_id AS "receiptId", put_at AS "putAt"`;
/** Advisory lock under which versions are compared and numbered, until the transaction ends. */
const LOCK = 7_365_616_121;

/** Keeps others from putting versions until the end of the transaction. */
export async function lockConfig(trx: Db): Promise<void> {
  await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
}

/** Lists the versions in force, without their content. */
export async function listConfigInForce(db: Db): Promise<ConfigInForce[]> {
  return await db.query<ConfigInForce>(
    `SELECT file, place, version, sha256, put_at AS "putAt" FROM config_in_force() ORDER BY file, place`,
  );
}

/** Returns the version in force; undefined: none was ever put. */
export async function findConfigInForce(
  db: Db,
  { file, place }: ConfigFile,
): Promise<ConfigVersion | undefined> {
  return await db.first<ConfigVersion>(
    `SELECT ${COLUMNS} FROM config_versions WHERE file = $1 AND place = $2 ORDER BY version DESC LIMIT 1`,
    [file, place],
  );
}

/** Returns a version; undefined: there is none of this number. */
export async function findConfigVersion(
  db: Db,
  { file, place }: ConfigFile,
  version: number,
): Promise<ConfigVersion | undefined> {
  return await db.first<ConfigVersion>(
    `SELECT ${COLUMNS} FROM config_versions WHERE file = $1 AND place = $2 AND version = $3`,
    [file, place, version],
  );
}

/**
 * Returns the SHA-256 of what was last put from one file; of one of the same path, where this place has put none: its host may
 * have another name since. Undefined: nothing was.
 */
export async function findLastPutFrom(
  db: Db,
  { file, place }: ConfigFile,
  from: { readonly place: string; readonly path: string },
): Promise<string | undefined> {
  const row = await db.first<{ readonly sha256: string }>(
    `SELECT sha256 FROM config_versions
     WHERE file = $1 AND place = $2 AND from_path = $4 ORDER BY from_place = $3 DESC, version DESC LIMIT 1`,
    [file, place, from.place, from.path],
  );
  return row?.sha256;
}

/** Lists the versions of a file, newest first, without their content. @param limit > 0 */
export async function listConfigVersions(
  db: Db,
  { file, place }: ConfigFile,
  limit: number,
): Promise<Omit<ConfigVersion, "content">[]> {
  return await db.query(
    `SELECT file, place, version, sha256, from_place AS "fromPlace", from_path AS "fromPath", put_by AS "putBy",
       receipt_id AS "receiptId", put_at AS "putAt"
     FROM config_versions WHERE file = $1 AND place = $2 ORDER BY version DESC LIMIT $3`,
    [file, place, limit],
  );
}

/** Adds a version, which is in force from then on. Must run under {@linkcode lockConfig}. @returns its number */
export async function addConfigVersion(trx: Db, version: NewConfigVersion): Promise<number> {
  const { file, place, sha256, content, fromPlace, fromPath, putBy, receiptId } = version;
  const row = await trx.first<{ readonly version: number }>(
    `INSERT INTO config_versions (file, place, version, sha256, content, from_place, from_path, put_by, receipt_id)
     SELECT $1, $2, 1 + coalesce(max(version), 0), $3, $4, $5, $6, $7, $8
     FROM config_versions WHERE file = $1 AND place = $2
     RETURNING version`,
    [file, place, sha256, content, fromPlace, fromPath, putBy, receiptId],
  );
  return row!.version;
}

/** Lists the files of workers that differ from what is in force. */
export async function listConfigDrift(db: Db): Promise<ConfigDrift[]> {
  return await db.query<ConfigDrift>(
    `SELECT d.name, d.place, p.public_key AS "placeId", d.path, d.since, d.version, d.put_at AS "putAt"
     FROM config_drift() d LEFT JOIN places p ON p.name = d.place ORDER BY d.name, d.place`,
  );
}
