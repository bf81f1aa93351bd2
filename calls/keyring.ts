import {
  batch,
  findKeys,
  hashKey,
  isKeyShaped,
  type KeyRecord,
  KEYS_CHANGED,
  listen,
  type Store,
  touchKeys,
} from "../store/mod.ts";

/** Looks keys up, and caches them until it is notified that keys have changed. */
export interface Keyring {
  /** Returns the record of a key as sent; undefined where it is unknown, revoked or expired. */
  find(key: string): Promise<KeyRecord | undefined>;
  close(): Promise<void>;
}

const MAX_CACHED = 10_000;
const TOUCH_INTERVAL_MS = 5_000;

/**
 * Opens a keyring. Nothing is cached while notifications can't be heard, so that a revoked key is refused at once by
 * every process.
 */
export async function openKeyring(store: Store): Promise<Keyring> {
  const db = store.asPlatform();
  const cache = new Map<string, KeyRecord>();
  const uses = new Map<string, Date>();
  let generation = 0;
  const clear = () => {
    generation++;
    cache.clear();
  };
  const listener = await listen(store, [KEYS_CHANGED], { onNotify: clear, onConnect: clear });
  const lookUp = batch((hashes: Buffer[]) => findKeys(db, hashes));
  const flush = () => {
    const flushed = new Map(uses);
    uses.clear();
    return touchKeys(db, flushed);
  };
  const timer = setInterval(() => flush().catch(() => {}), TOUCH_INTERVAL_MS).unref();

  async function findByHash(hash: Buffer): Promise<KeyRecord | undefined> {
    const name = hash.toString("base64");
    const cached = listener.live ? cache.get(name) : undefined;
    if (cached) return cached;
    const asked = generation;
    const record = await lookUp(hash);
    // A change that was notified meanwhile may not be in what was read.
    const isCurrent = listener.live && asked === generation;
    if (record && isCurrent && cache.size < MAX_CACHED) cache.set(name, record);
    return record;
  }

  return {
    async find(key) {
      if (!isKeyShaped(key)) return undefined;
      const record = await findByHash(hashKey(key));
      if (!record || record.expiresAt && record.expiresAt <= new Date()) return undefined;
      uses.set(record.id, new Date());
      return record;
    },
    async close() {
      clearInterval(timer);
      await Promise.allSettled([flush(), listener.close()]);
    },
  };
}
