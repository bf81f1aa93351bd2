import { randomUUID } from "node:crypto";
import { open, readFile, rename, rm } from "node:fs/promises";
import { BadNote, type Checkpoint, isSignedBy, parseCheckpoint, parseNote } from "./mod.ts";

/** Writes a file outside of the database, so that it lasts. @param path of the file; made anew as a whole */
export async function writeDurably(path: string, text: string, mode = 0o644): Promise<void> {
  const fresh = `${path}.${randomUUID()}.new`; // several processes may keep the same
  const file = await open(fresh, "w", mode);
  try {
    await file.writeFile(text);
    await file.sync();
    await rename(fresh, path);
  } catch (error) {
    await rm(fresh, { force: true });
    throw error;
  } finally {
    await file.close();
  }
}

/** The text that was kept; undefined: none was. */
export async function readIfPresent(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** What a note says, where the log's own key has signed it, under whatever name. @throws {BadNote} it has not */
export function parseOwnCheckpoint(note: string, publicKey: Uint8Array): Checkpoint {
  const parsed = parseNote(note);
  const checkpoint = parseCheckpoint(parsed.text);
  if (isSignedBy(parsed, { name: checkpoint.origin, publicKey, kind: "log" })) return checkpoint;
  throw new BadNote("The checkpoint is not signed by the log's key");
}
