import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../contract/mod.ts";
import { batch, type Db, type Store } from "../../store/mod.ts";

/** Sealing takes a tenth of a second where all is well; after this, callers had better ask again. */
const TIMEOUT_MS = 2_000;
const POLL_MS = 20;

/**
 * Waits for a receipt that was requested and is not part of the chain yet, as somebody who has just been told its id may
 * ask for it before it is sealed.
 *
 * @param id whole, as it was requested
 * @returns true once it is sealed; false where it was never requested, was refused, or is not in the outbox any more
 * @throws {Problem} `Unavailable`: it is not sealed within two seconds
 */
export async function waitForPending(store: Store, id: string): Promise<boolean> {
  const db = store.asPlatform();
  if (!await isRequested(db, id)) return false;
  const isSealed = sealedLookup(store);
  const end = performance.now() + TIMEOUT_MS;
  while (!await isSealed(id)) {
    if (performance.now() >= end) {
      if (!await isQueued(db, id)) return await isSealed(id);
      throw new Problem(
        "Unavailable",
        `Receipt ${id} was asked for, and is not part of the chain yet: ask again in a few seconds`,
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

/** Walks the outbox, which has no index by id: every receipt would pay for it. */
async function isQueued(db: Db, id: string): Promise<boolean> {
  return await db.first("SELECT 1 FROM seal_outbox WHERE id = $1 LIMIT 1", [id]) !== undefined;
}

const LIST_SEALED = {
  name: "list_sealed",
  text: "SELECT id FROM receipts WHERE id = ANY ($1)",
};

type SealedLookup = (id: string) => Promise<boolean>;
const lookups = new WeakMap<Store, SealedLookup>();

/** Returns the function that tells whether a receipt is sealed: one statement at a time, however many wait. */
function sealedLookup(store: Store): SealedLookup {
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
