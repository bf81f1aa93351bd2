import { setTimeout as sleep } from "node:timers/promises";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import { batch, type Db, type Store } from "../../store/mod.ts";
import { AmbiguousReceipt, ReceiptNotFound } from "./errors.ts";
import { getReceipt, listReceiptsByPrefix, type StoredReceipt } from "./read.ts";

const MIN_PREFIX_LENGTH = 8;
/** Sealing takes about 100 ms. After this time callers are told to ask again. */
const PENDING_TIMEOUT_MS = 2_000;
const POLL_MS = 20;

/**
 * Finds one receipt, by its id or by a unique prefix of its id or hash, in any case. One that was requested under
 * exactly this id and is not part of the chain yet is waited for.
 *
 * @throws {ReceiptNotFound} none matches
 * @throws {AmbiguousReceipt} several match
 * @throws {InvalidInput} shorter than 8 characters, and no id
 * @throws {Problem} `Unavailable`: it was requested, and is not sealed within two seconds
 */
export async function findReceipt(store: Store, idOrPrefix: string): Promise<StoredReceipt> {
  const exact = await getReceipt(store, idOrPrefix);
  if (exact) return exact;
  if (await waitUntilSealed(store, idOrPrefix)) return (await getReceipt(store, idOrPrefix))!;
  const prefix = idOrPrefix.toLowerCase();
  if (prefix.length < MIN_PREFIX_LENGTH) {
    throw new InvalidInput([{
      path: ["receipt_id"],
      msg: `No receipt has this id, and a prefix needs at least ${MIN_PREFIX_LENGTH} characters`,
      type: "string_too_short",
    }]);
  }
  const found = await listReceiptsByPrefix(store, prefix);
  const whole = found.filter(({ id, hash }) => id.toLowerCase() === prefix || hash === prefix);
  const matches = whole.length > 0 ? whole : found;
  if (matches.length === 0) throw new ReceiptNotFound(idOrPrefix);
  if (matches.length > 1) throw new AmbiguousReceipt(idOrPrefix, matches.map(({ id }) => id));
  return matches[0]!;
}

/**
 * Waits until a requested receipt is sealed. Its id is known as soon as it is requested, so it may be asked for earlier.
 *
 * @param id whole, as it was requested
 * @returns false where it was never requested, was refused, or is no longer in the outbox
 * @throws {Problem} `Unavailable`: it is not sealed within two seconds
 */
async function waitUntilSealed(store: Store, id: string): Promise<boolean> {
  const db = store.asPlatform();
  if (!await isRequested(db, id)) return false;
  const isSealed = getSealedLookup(store);
  const end = performance.now() + PENDING_TIMEOUT_MS;
  while (!await isSealed(id)) {
    if (performance.now() >= end) {
      if (!await isQueued(db, id)) return await isSealed(id); // it may have been sealed just now
      throw new Problem(
        "Unavailable",
        `Receipt ${id} is requested and not sealed yet; ask again in a few seconds`,
        { headers: { "retry-after": "2" } },
      );
    }
    await sleep(POLL_MS);
  }
  return true;
}

const IS_REQUESTED = {
  name: "is_requested",
  text: `SELECT 1 FROM seal_requests s WHERE id = $1
         AND NOT EXISTS (SELECT FROM seal_refusals r WHERE r.id = s.id)`,
};

async function isRequested(db: Db, id: string): Promise<boolean> {
  return await db.first(IS_REQUESTED, [id]) !== undefined;
}

/** Reads the whole outbox. An index by id would slow down every request to seal. */
async function isQueued(db: Db, id: string): Promise<boolean> {
  return await db.first("SELECT 1 FROM seal_outbox WHERE id = $1 LIMIT 1", [id]) !== undefined;
}

const LIST_SEALED = {
  name: "list_sealed",
  text: "SELECT id FROM receipts WHERE id = ANY ($1)",
};

type SealedLookup = (id: string) => Promise<boolean>;
const lookups = new WeakMap<Store, SealedLookup>();

/** Returns the function that looks up whether a receipt is sealed. All waiting calls share one statement. */
function getSealedLookup(store: Store): SealedLookup {
  let lookup = lookups.get(store);
  if (!lookup) {
    lookup = batch(async (ids: string[]) => {
      const rows = await store.asPlatform().query<{ id: string }>(LIST_SEALED, [ids]);
      const sealed = new Set(rows.map((row) => row.id));
      return ids.map((id) => sealed.has(id));
    });
    lookups.set(store, lookup);
  }
  return lookup;
}
