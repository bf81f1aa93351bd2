import { readFile } from "node:fs/promises";
import { join } from "node:path";
import type { Store } from "../../store/mod.ts";

/** Files by the pool of their store, as stores of several tenants share one. */
const files = new WeakMap<Store["pool"], string>();
const keys = new Map<string, string>();

/** Returns the path of the file in the data folder that holds the first key which this platform has signed with. */
export const rootKeyFile = (dataDir: string): string => join(dataDir, "ledger.root");

/** Makes a store's published keys be compared with a root key. @param path of the file, which may not exist yet */
export function useRootKey({ pool }: Pick<Store, "pool">, path: string): void {
  files.set(pool, path);
}

/** Returns the file that {@linkcode useRootKey} has set. */
export function getRootKeyFile({ pool }: Pick<Store, "pool">): string | undefined {
  return files.get(pool);
}

/**
 * Returns the first key that this platform has signed its ledger with, hex. It is known from outside of the database.
 *
 * @returns undefined where nothing is sealed yet, or where the file is on another machine
 */
export async function readRootKey(store: Pick<Store, "pool">): Promise<string | undefined> {
  const path = getRootKeyFile(store);
  if (path === undefined) return undefined;
  const known = keys.get(path);
  if (known !== undefined) return known;
  try {
    const key = (await readFile(path, "utf8")).trim();
    keys.set(path, key);
    return key;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
