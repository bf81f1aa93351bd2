import { once } from "node:events";
import { createReadStream, createWriteStream, existsSync } from "node:fs";
import { mkdir, open, readFile, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream";
import { finished } from "node:stream/promises";
import { createGunzip, createGzip } from "node:zlib";
import { dumpDatabase, loadDatabase } from "../../store/mod.ts";
import { type LogSettings, readIfPresent, writeDurably } from "../log/mod.ts";
import {
  type ChainHead,
  getSignedHead,
  type JournalObjects,
  readSignerState,
} from "../signer/mod.ts";
import { BadBackup, type Manifest, verifyBackup, writeManifest } from "./manifest.ts";

/** Options of {@linkcode backUp}. */
export interface BackupOptions {
  /** Connection string of a role that sees all rows. */
  readonly databaseUrl: string;
  /** PEM file of the key that signs receipts, beside the signer's journal. */
  readonly keyFile: string;
  /** Objects of a bucket that have the journal. Default: the folder beside the key has it. */
  readonly journal?: JournalObjects | undefined;
  readonly log: LogSettings;
  /** Folder to create. */
  readonly folder: string;
}

/** State of the signer as a backup has it. */
interface SignerFile {
  readonly size: number;
  readonly hash: string | null;
  readonly signed_at: string;
}

const DUMP = "database.ndjson.gz";
const CHECKPOINT = "checkpoint";
const SIGNER = "signer.json";

/**
 * Makes a backup: a dump of the database, the newest checkpoint, the signer's state, and a signed manifest of them. Keys
 * are not in it.
 *
 * @throws {BadBackup} the folder is there already
 * @throws {DumpRefused} the role does not see all rows
 */
export async function backUp(options: BackupOptions): Promise<void> {
  const { databaseUrl, keyFile, log, folder } = options;
  if (existsSync(folder)) throw new BadBackup(`${folder} is there already: name another folder`);
  const part = `${folder}.part`;
  await rm(part, { recursive: true, force: true });
  await mkdir(part, { recursive: true, mode: 0o700 });
  await writeDump(databaseUrl, join(part, DUMP));
  // After the dump: the signer's state is then at least as new as that.
  const { state, damage } = await readSignerState(keyFile, options.journal);
  if (damage) throw damage;
  await writeDurably(join(part, SIGNER), formatState(getSignedHead(state), state.signedAt));
  const checkpoint = await readIfPresent(log.checkpointFile);
  if (checkpoint !== undefined) await writeDurably(join(part, CHECKPOINT), checkpoint);
  const names = [DUMP, SIGNER, ...(checkpoint === undefined ? [] : [CHECKPOINT])];
  await writeManifest(part, names, log);
  await rename(part, folder);
}

function formatState(head: ChainHead | undefined, signedAt: number): string {
  const file: SignerFile = {
    size: head?.size ?? 0,
    hash: head?.hash?.toString("hex") ?? null,
    signed_at: new Date(signedAt).toISOString(),
  };
  return `${JSON.stringify(file, null, 2)}\n`;
}

/** Writes the dump, readable by its owner alone: it has everything private that the platform has. */
async function writeDump(databaseUrl: string, path: string): Promise<void> {
  const zip = createGzip({ level: 1 });
  const file = createWriteStream(path, { mode: 0o600 });
  const written = finished(zip.pipe(file));
  written.catch(() => {}); // awaited below
  await dumpDatabase(databaseUrl, async (lines) => {
    if (!zip.write(lines)) await Promise.race([once(zip, "drain"), written]);
  });
  zip.end();
  await written;
  const handle = await open(path);
  await handle.sync().finally(() => handle.close());
}

/** A backup that was loaded. */
export interface LoadedBackup extends Pick<Manifest, "createdAt"> {
  /** Number of receipts that were signed when it was made, at least. */
  readonly signedSize: number;
}

/**
 * Loads the database of a backup into an empty one, whole or not at all.
 *
 * @param databaseUrl of the superuser
 * @throws {BadBackup} it was changed, or another ledger's key signed it
 * @throws {DumpRefused} the database has receipts, or another schema
 */
export async function loadBackup(
  { databaseUrl, log, folder }: Omit<BackupOptions, "keyFile">,
): Promise<LoadedBackup> {
  const { createdAt } = await verifyBackup(folder, log);
  await loadDatabase(databaseUrl, readLines(join(folder, DUMP)));
  const { size }: SignerFile = JSON.parse(await readFile(join(folder, SIGNER), "utf8"));
  return { createdAt, signedSize: size };
}

async function* readLines(path: string): AsyncGenerator<string> {
  const text = pipeline(createReadStream(path), createGunzip(), () => {}); // an error ends the loop below
  text.setEncoding("utf8");
  let rest = "";
  for await (const chunk of text) {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}
