import { getPrivateTexts, keyedHash, putPrivateTexts, type Store } from "../../store/mod.ts";

/** Texts of one tenant that stand in the database, by ids that tell nothing of them. */
export interface PrivateTexts {
  /** Stores texts, and returns their ids. The same text has the same id. */
  keep(texts: readonly string[]): Promise<string[]>;
  /** Returns texts by their ids. @throws {PrivateTextLost} one of them is not there, or not the tenant's, or was changed */
  read(ids: readonly string[]): Promise<ReadonlyMap<string, string>>;
}

/** The text that a payload names is not in the database as it was stored. */
class PrivateTextLost extends Error {
  override readonly name = "PrivateTextLost";
  constructor(id: string, reason: "is not in the database" | "was changed in the database") {
    super(`Cannot read a payload: its text ${id} ${reason}`);
  }
}

/** A text that is known to be stored. */
interface KnownText {
  readonly text: string;
  readonly storedAt: number;
}

/** Characters of the texts that a process remembers. */
const MAX_CACHED_CHARACTERS = 16_000_000;
/** After this time a text is stored again, so that it is not taken for an old one. */
const FRESH_MS = 12 * 3_600_000;

/** Texts by tenant and id that this process has stored or read, oldest first; by database. */
const caches = new WeakMap<Store["pool"], ReturnType<typeof openCache>>();

/** Opens the texts of the store's tenant. */
export function openPrivateTexts(store: Store): PrivateTexts {
  const { tenant, db, pool } = store;
  const cache = caches.get(pool) ?? openCache();
  caches.set(pool, cache);
  const keyOf = (id: string) => `${tenant}\n${id}`;
  const idOf = async (text: string) =>
    (await keyedHash(store, "private_texts", tenant, text)).toString("hex", 0, 16);
  return {
    async keep(texts) {
      const ids = await Promise.all(texts.map(idOf));
      const isFresh = (id: string) => (cache.get(keyOf(id))?.storedAt ?? 0) > Date.now() - FRESH_MS;
      const fresh = new Map(
        ids.map((id, at) => [id, texts[at]!] as const)
          .filter(([id]) => !isFresh(id)),
      );
      if (fresh.size === 0) return ids;
      await putPrivateTexts(db, fresh);
      for (const [id, text] of fresh) cache.set(keyOf(id), { text, storedAt: Date.now() });
      return ids;
    },
    async read(ids) {
      const missing = ids.filter((id) => !cache.get(keyOf(id)));
      if (missing.length > 0) {
        for (const [id, text] of await getPrivateTexts(db, missing)) {
          if (await idOf(text) !== id) throw new PrivateTextLost(id, "was changed in the database");
          cache.set(keyOf(id), { text, storedAt: 0 });
        }
      }
      return new Map(ids.map((id) => {
        const known = cache.get(keyOf(id));
        if (!known) throw new PrivateTextLost(id, "is not in the database");
        return [id, known.text];
      }));
    },
  };
}

function openCache() {
  const texts = new Map<string, KnownText>();
  let characters = 0;
  return {
    get: (key: string) => texts.get(key),
    set(key: string, known: KnownText): void {
      characters += known.text.length - (texts.get(key)?.text.length ?? 0);
      texts.delete(key);
      texts.set(key, known);
      for (const [oldest, { text }] of texts) {
        if (characters <= MAX_CACHED_CHARACTERS || oldest === key) break;
        texts.delete(oldest);
        characters -= text.length;
      }
    },
  };
}
