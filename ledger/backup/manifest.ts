import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { loadSigningKey } from "../crypto/mod.ts";
import { isSignedBy, type LogSettings, signNote, writeDurably } from "../log/mod.ts";
import { parseNote } from "../notes/mod.ts";

/** A backup can't be trusted: it was changed, or another ledger's key signed it. */
export class BadBackup extends Error {
  override readonly name = "BadBackup";
}

/** The statement of a backup about its files. */
export interface Manifest {
  readonly createdAt: string;
  /** The files of the backup by their names, each with its SHA-256 as hex. */
  readonly files: ReadonlyMap<string, string>;
}

/** First line of a manifest, so that no checkpoint and no receipt can be taken for one. */
const FIRST_LINE = "sealoop backup 1";
const NAME = "manifest";
const ENTRY = /^([0-9a-f]{64}) ([a-z0-9.]+)$/;

/** The log whose key signs manifests. */
type LogKey = Pick<LogSettings, "keyFile" | "origin">;

/** Writes the manifest of a folder's files: a note that is signed with the log's key. */
export async function writeManifest(
  folder: string,
  names: readonly string[],
  { keyFile, origin }: LogKey,
): Promise<void> {
  const { privateKey, publicKey } = loadSigningKey(keyFile);
  const entries = await Promise.all(
    names.map(async (name) => `${await hashFile(join(folder, name))} ${name}\n`),
  );
  const text = `${FIRST_LINE}\n${new Date().toISOString()}\n${entries.join("")}`;
  const key = { name: origin, publicKey, kind: "log" as const };
  await writeDurably(join(folder, NAME), signNote(text, key, privateKey));
}

/**
 * Verifies that a folder is a whole backup, signed with the log's key.
 *
 * @throws {BadBackup} it is not
 */
export async function verifyBackup(
  folder: string,
  { keyFile }: Pick<LogKey, "keyFile">,
): Promise<Manifest> {
  const note = parseNote(await readFile(join(folder, NAME), "utf8"));
  const { publicKey } = loadSigningKey(keyFile);
  const isSigned = note.signatures.some(({ name }) =>
    isSignedBy(note, { name, publicKey, kind: "log" })
  );
  const [first, createdAt = "", ...entries] = note.text.trimEnd().split("\n");
  if (!isSigned || first !== FIRST_LINE) {
    throw new BadBackup(
      `The manifest of ${folder} is not signed with the log's key, ${
        basename(keyFile)
      }. Put that key into the data folder first`,
    );
  }
  const files = new Map<string, string>();
  for (const entry of entries) {
    const [, hash, name] = ENTRY.exec(entry) ?? [];
    if (!hash || !name) throw new BadBackup(`The manifest of ${folder} has the line ${entry}`);
    if (!await isThere(join(folder, name)) || await hashFile(join(folder, name)) !== hash) {
      throw new BadBackup(`The file ${name} of ${folder} is missing, or is not what was backed up`);
    }
    files.set(name, hash);
  }
  return { createdAt, files };
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then((stats) => stats.isFile(), () => false);
}

async function hashFile(path: string): Promise<string> {
  const hash = createHash("sha256");
  for await (const chunk of createReadStream(path)) hash.update(chunk);
  return hash.digest("hex");
}
