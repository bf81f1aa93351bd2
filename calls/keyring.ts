import { setTimeout as sleep } from "node:timers/promises";
import { batch, listen, type Store } from "../store/mod.ts";
import {
  findKeys,
  hashKey,
  isKeyShaped,
  type KeyRecord,
  KEYS_CHANGED,
  touchKeys,
} from "../store/keys/mod.ts";
import type { FailureLimiter } from "./failure_limiter.ts";

/** Looks keys up, and caches what it finds, and what it does not, until it is notified that keys have changed. */
export interface Keyring {
  /**
   * Returns the record of a key as sent; undefined where it is unknown, revoked or expired.
   *
   * @param address of the client
   * @throws {Problem} `RateLimited`: the key is not valid, and the address has sent too many such keys
   */
  find(key: string, address: string): Promise<KeyRecord | undefined>;
  /**
   * Has every key looked up anew from now on. Called after a change of this process, so that it holds here before the
   * caller is told of it; other processes are notified.
   */
  refresh(): void;
  close(): Promise<void>;
}

/** Maximum of cached keys, known and unknown ones each. */
const MAX_CACHED = 10_000;
/**
 * Age from which a cached key is looked up anew. Notifications come at once; but a connection may be dead without either
 * side noticing, and a restored database notifies nobody.
 */
const MAX_AGE_MS = 30_000;
const TOUCH_INTERVAL_MS = 5_000;
/** Pause between looks for new keys of addresses that are over their limit, and most such keys that wait. */
const SLOW_LOOKUP_MS = 1_000;
const MAX_SLOW_LOOKUPS = 1_000;

/** A look at the database. */
interface Look {
  /** Undefined: there is no such key. */
  readonly record: KeyRecord | undefined;
  readonly at: number;
  readonly generation: number;
}

/**
 * Opens a keyring. Nothing is taken from the cache while notifications can't be heard.
 *
 * The limit of an address never refuses a valid key, as people share addresses: a key that this process has seen is looked
 * up as ever, and another one, once the address is over its limit, by a look that all such keys share, one a second.
 *
 * @param failures limits invalid keys by address
 */
export async function openKeyring(store: Store, failures: FailureLimiter): Promise<Keyring> {
  const db = store.asPlatform();
  /** Looks by the keys' hashes, the latest one last. */
  const known = new Map<string, Look>();
  const unknown = new Map<string, Look>();
  const uses = new Map<string, Date>();
  let generation = 0;
  let slowLookups = 0;
  const refresh = () => {
    generation++;
  };
  const listener = await listen(store, [KEYS_CHANGED], { onNotify: refresh, onConnect: refresh });
  const lookUp = batch((hashes: Buffer[]) => findKeys(db, hashes));
  const lookUpSlowly = batch(async (hashes: Buffer[]) => {
    await sleep(SLOW_LOOKUP_MS);
    return await findKeys(db, hashes);
  });
  const flush = () => {
    const flushed = new Map(uses);
    uses.clear();
    return touchKeys(db, flushed);
  };
  const timer = setInterval(() => flush().catch(() => {}), TOUCH_INTERVAL_MS).unref();

  async function findByHash(hash: Buffer, address: string): Promise<KeyRecord | undefined> {
    const name = hash.toString("base64");
    const cached = known.get(name) ?? unknown.get(name);
    if (cached && isCurrent(cached)) return cached.record;
    const asked = generation; // a change that is notified meanwhile may not be in what is read
    const at = Date.now();
    const isNew = !known.has(name);
    const record =
      await (isNew && failures.isOver(address) ? findSlowly(hash, address) : lookUp(hash));
    known.delete(name);
    unknown.delete(name);
    keep(record ? known : unknown, name, { record, at, generation: asked });
    return record;
  }

  function isCurrent({ at, generation: seen }: Look): boolean {
    return listener.live && seen === generation && Date.now() - at < MAX_AGE_MS;
  }

  async function findSlowly(hash: Buffer, address: string): Promise<KeyRecord | undefined> {
    if (slowLookups >= MAX_SLOW_LOOKUPS) failures.check(address, "unknown keys");
    slowLookups++;
    try {
      return await lookUpSlowly(hash);
    } finally {
      slowLookups--;
    }
  }

  return {
    async find(key, address) {
      if (!isKeyShaped(key)) return undefined; // costs nothing but this look
      const record = await findByHash(hashKey(key), address);
      if (!record) {
        failures.check(address, "unknown keys");
        failures.count(address);
        return undefined;
      }
      if (record.expiresAt && record.expiresAt <= new Date()) return undefined;
      uses.set(record.id, new Date());
      return record;
    },
    refresh,
    async close() {
      clearInterval(timer);
      await Promise.allSettled([flush(), listener.close()]);
    },
  };
}

/** Keeps a look, and forgets the oldest one where there are too many. */
function keep(looks: Map<string, Look>, name: string, look: Look): void {
  if (looks.size >= MAX_CACHED) looks.delete(looks.keys().next().value!);
  looks.set(name, look);
}
