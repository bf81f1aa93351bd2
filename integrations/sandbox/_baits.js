import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const FILES = 24;
const LINES = 200;

/** Creates files that look valuable, and knows their content. Files that were there before are replaced. */
export function openBaits(folder) {
  const known = new Map();
  for (let n = 1; n <= FILES; n++) {
    const line = (row) => `${n},${row},account-${(n * 7919 + row * 104729) % 100_000},bait\n`;
    known.set(
      `accounts-${String(n).padStart(2, "0")}.csv`,
      Array.from({ length: LINES }, (_, row) => line(row)).join(""),
    );
  }
  const counts = { files_altered: 0, files_restored: 0 };
  const hashes = new Map([...known].map(([name, text]) => [name, sha256(text)]));
  write();

  function write() {
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    for (const [name, text] of known) writeFileSync(join(folder, name), text);
  }

  /** Counts the baits that were changed or removed. */
  function altered() {
    const count = [...hashes].filter(([name, hash]) => hashOf(name) !== hash).length;
    counts.files_altered = Math.max(counts.files_altered, count);
    return count;
  }

  /** @returns undefined: the bait is gone, perhaps at this moment */
  function hashOf(name) {
    try {
      return sha256(readFileSync(join(folder, name)));
    } catch (error) {
      if (error.code !== "ENOENT") throw error;
    }
  }

  function restore() {
    counts.files_restored += altered();
    write();
  }

  return { folder, counts, altered, restore };
}

function sha256(bytes) {
  return createHash("sha256").update(bytes).digest("hex");
}
