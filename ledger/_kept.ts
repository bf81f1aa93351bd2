import { open, readFile, rename } from "node:fs/promises";
import { BadNote, type Checkpoint, isSignedBy, parseCheckpoint, parseNote } from "./tlog/mod.ts";

/** Writes a checkpoint down outside of the database, so that it lasts. @param path of the file; made anew as a whole */
export async function keepCheckpoint(path: string, note: string): Promise<void> {
  const fresh = `${path}.new`;
  const file = await open(fresh, "w", 0o644);
  try {
    await file.writeFile(note);
    await file.sync();
  } finally {
    await file.close();
  }
  await rename(fresh, path);
}

/** The note that was kept; undefined: none was. */
export async function readKept(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/** What a note says, where the log's own key has signed it, under whatever name. @throws {BadNote} it has not */
export function ownCheckpoint(note: string, publicKey: Uint8Array): Checkpoint {
  const parsed = parseNote(note);
  const checkpoint = parseCheckpoint(parsed.text);
  if (isSignedBy(parsed, { name: checkpoint.origin, publicKey, kind: "log" })) return checkpoint;
  throw new BadNote("The checkpoint is not signed by the log's key");
}
