import { statfs } from "node:fs/promises";
import { EmbeddedError } from "../../runtime/embedded/mod.ts";

/** Two segments of PostgreSQL's log of changes: with less, its next one may be its last. */
const MIN_FREE_BYTES = 32 * 1024 * 1024;

/**
 * Checks that the disk of the data folder has room left.
 *
 * @throws {EmbeddedError} it is full
 */
export async function requireSpace(dataDir: string): Promise<void> {
  const { bavail, bsize } = await statfs(dataDir);
  const free = bavail * bsize;
  if (free >= MIN_FREE_BYTES) return;
  const mebibytes = (bytes: number) => Math.floor(bytes / 1024 / 1024);
  throw new EmbeddedError(
    `The disk is full: ${dataDir} has ${mebibytes(free)} MiB left, and at least ${
      mebibytes(MIN_FREE_BYTES)
    } are needed. Free some space, or set SEALOOP_DATA to a folder elsewhere`,
  );
}
