import type { SettingsFileName } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** A mistake of a settings file. */
export interface SettingsMistake {
  /** Path; of a folder's file its own. */
  readonly file: string;
  /** Null: it is about the file as a whole. */
  readonly line: number | null;
  readonly column: number | null;
  /** For the operator: it may have names that the file has. */
  readonly text: string;
  /** In words that everybody may read; null: there are none. */
  readonly open: string | null;
}

/** A settings file, as a process of its place has read it. */
export interface SettingsFileReading {
  readonly name: SettingsFileName;
  readonly place: string;
  readonly host: string;
  readonly path: string;
  /** SHA-256 of what was read; null: there is no file any more. */
  readonly hash: string | null;
  /** Empty: it was taken. */
  readonly mistakes: readonly SettingsMistake[];
}

/** A settings file, as it was last read. */
export interface SettingsFileRecord extends SettingsFileReading {
  readonly state: "taken" | "refused";
  /** When it was read as it is now. */
  readonly since: Date;
  /** Since when its last good content holds; null: there was none. */
  readonly takenAt: Date | null;
}

const COLUMNS = `name, place, host, path, state, hash, mistakes, since, taken_at AS "takenAt"`;

/** Returns what was last read of a place's file, and keeps others from changing it; undefined: nobody has read it. */
export async function lockSettingsFile(
  trx: Db,
  { name, place }: Pick<SettingsFileReading, "name" | "place">,
): Promise<SettingsFileRecord | undefined> {
  return await trx.first<SettingsFileRecord>(
    `SELECT ${COLUMNS} FROM settings_files WHERE name = $1 AND place = $2 FOR UPDATE`,
    [name, place],
  );
}

/** Stores what was read of a file. @returns the record, or undefined where it was known already */
export async function putSettingsFile(
  trx: Db,
  { name, place, host, path, hash, mistakes }: SettingsFileReading,
): Promise<SettingsFileRecord | undefined> {
  const state = mistakes.length === 0 ? "taken" : "refused";
  return await trx.first<SettingsFileRecord>(
    `INSERT INTO settings_files AS f (name, place, host, path, state, hash, mistakes, taken_at, taken_hash)
     VALUES ($1, $2, $3, $4, $5, $6, $7, CASE $5 WHEN 'taken' THEN clock_timestamp() END,
       CASE $5 WHEN 'taken' THEN $6 END)
     ON CONFLICT (name, place) DO UPDATE SET host = excluded.host, path = excluded.path, state = excluded.state, hash = excluded.hash,
       mistakes = excluded.mistakes, since = excluded.since,
       taken_at = CASE WHEN excluded.state = 'taken' AND excluded.hash IS DISTINCT FROM f.taken_hash
         THEN excluded.taken_at ELSE f.taken_at END,
       taken_hash = CASE excluded.state WHEN 'taken' THEN excluded.hash ELSE f.taken_hash END
     WHERE (f.path, f.state, f.hash, f.mistakes)
       IS DISTINCT FROM (excluded.path, excluded.state, excluded.hash, excluded.mistakes)
     RETURNING ${COLUMNS}`,
    [name, place, host, path, state, hash, JSON.stringify(mistakes)],
  );
}

/** Lists the files that are refused, of hosts on which a process of the platform was heard of within an hour. */
export async function listRefusedFiles(db: Db): Promise<SettingsFileRecord[]> {
  return await db.query<SettingsFileRecord>(
    `SELECT ${COLUMNS} FROM refused_settings_files()`,
  );
}

/** Returns what was last read of a file, at whatever place it was read last; undefined: nobody has. */
export async function findSettingsFile(
  db: Db,
  name: SettingsFileName,
): Promise<SettingsFileRecord | undefined> {
  return await db.first<SettingsFileRecord>(
    `SELECT ${COLUMNS} FROM settings_files WHERE name = $1 ORDER BY since DESC LIMIT 1`,
    [name],
  );
}

/** Lists the files of a place as they were last read. */
export async function listSettingsFilesOf(db: Db, place: string): Promise<SettingsFileRecord[]> {
  return await db.query<SettingsFileRecord>(
    `SELECT ${COLUMNS} FROM settings_files WHERE place = $1 ORDER BY name`,
    [place],
  );
}
