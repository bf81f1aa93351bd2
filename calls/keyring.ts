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
import type { FailureLimiter } from "./failure_limiter.ts";

/** Looks keys up, and caches what it finds, and what it does not, until it is notified that keys have changed. */
export interface Keyring {
  /**
   * Returns the record of a key as sent; undefined where it is unknown, revoked or expired.
   *
   * @param address of the client
   * @throws {Problem} `RateLimited`: the address has sent too many unknown keys, so that this one, which is not cached, is
   * not looked up
   */
  find(key: string, address: string): Promise<KeyRecord | undefined>;
  close(): Promise<void>;
}

/** Of known keys, and of unknown ones. */
const MAX_CACHED = 10_000;
/** A restored database may know keys that it did not know before, and notifies nobody. */
const UNKNOWN_FOR_MS = 60_000;
const TOUCH_INTERVAL_MS = 5_000;

/**
 * Opens a keyring. Nothing is cached while notifications can't be heard, so that a revoked key is refused at once by
 * every process.
 *
 * @param failures limits unknown keys by address
 */
export async function openKeyring(store: Store, failures: FailureLimiter): Promise<Keyring> {
  const db = store.asPlatform();
  const cache = new Map<string, KeyRecord>();
  /** Hashes of keys that are not in the database, with the time of the look, oldest first. */
  const unknown = new Map<string, number>();
  const uses = new Map<string, Date>();
  let generation = 0;
  const clear = () => {
    generation++;
    cache.clear();
    unknown.clear();
  };
  const listener = await listen(store, [KEYS_CHANGED], { onNotify: clear, onConnect: clear });
  const lookUp = batch((hashes: Buffer[]) => findKeys(db, hashes));
  const flush = () => {
    const flushed = new Map(uses);
    uses.clear();
    return touchKeys(db, flushed);
  };
  const timer = setInterval(() => flush().catch(() => {}), TOUCH_INTERVAL_MS).unref();

  async function findByHash(hash: Buffer, address: string): Promise<KeyRecord | undefined> {
    const name = hash.toString("base64");
    const cached = listener.live ? cache.get(name) : undefined;
    if (cached) return cached;
    failures.check(address, "unknown keys");
    if (listener.live && Date.now() - (unknown.get(name) ?? 0) < UNKNOWN_FOR_MS) {
      failures.count(address);
      return undefined;
    }
    const asked = generation;
    const record = await lookUp(hash);
    // A change that was notified meanwhile may not be in what was read.
    const isCurrent = listener.live && asked === generation;
    if (!record) failures.count(address);
    if (!isCurrent) return record;
    if (!record) cacheUnknown(name);
    else if (cache.size < MAX_CACHED) cache.set(name, record);
    return record;
  }

  function cacheUnknown(name: string): void {
    unknown.delete(name);
    if (unknown.size >= MAX_CACHED) unknown.delete(unknown.keys().next().value!);
    unknown.set(name, Date.now());
  }

  return {
    async find(key, address) {
      if (!isKeyShaped(key)) return undefined; // costs nothing but this look
      const record = await findByHash(hashKey(key), address);
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
