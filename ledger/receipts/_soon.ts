import { setTimeout as sleep } from "node:timers/promises";
import { Problem } from "../../contract/mod.ts";
import { shared, type Store } from "../../store/mod.ts";

/** Sealing takes a tenth of a second where all is well; longer than this, and callers had better ask again. */
const PATIENCE_MS = 2_000;
const LOOK_MS = 20;

/**
 * Waits for a receipt that was asked for and is not part of the chain yet, as somebody who has just been told its id
 * may come before it.
 *
 * @param id whole, as it was asked for
 * @returns whether it is there now; false at once where nobody asked for it, or where it was refused, and in the end
 * where it does not wait to be sealed either: somebody has removed it
 * @throws {Problem} `Unavailable`: it was asked for, and is not sealed within two seconds
 */
export async function sealedSoon(store: Store, id: string): Promise<boolean> {
  if (!await isAskedFor(store, id)) return false;
  let awaited = awaitedIn.get(store);
  if (!awaited) awaitedIn.set(store, awaited = openAwaited(store));
  const end = performance.now() + PATIENCE_MS;
  while (!await awaited.isSealed(id)) {
    if (performance.now() >= end) {
      if (!await isQueued(store, id)) return await awaited.isSealed(id);
      throw new Problem(
        "Unavailable",
        `Receipt ${id} was asked for, and is not part of the chain yet: ask again in a few seconds`,
        { headers: { "retry-after": "2" } },
      );
    }
    await sleep(LOOK_MS);
  }
  return true;
}

async function isAskedFor({ pool }: Store, id: string): Promise<boolean> {
  const { rows } = await pool.query({
    name: "asked_for",
    text: `SELECT FROM seal_requests s WHERE id = $1
           AND NOT EXISTS (SELECT FROM seal_refusals r WHERE r.id = s.id)`,
    values: [id],
  });
  return rows.length > 0;
}

/** Walks the outbox, which has no index by id: to keep one would cost every receipt more than this ever does. */
async function isQueued({ pool }: Store, id: string): Promise<boolean> {
  const text = "SELECT FROM seal_outbox WHERE id = $1 LIMIT 1";
  return (await pool.query({ name: "is_queued", text, values: [id] })).rows.length > 0;
}

/** However many wait, they are looked for by one statement at a time. */
interface Awaited {
  isSealed(id: string): Promise<boolean>;
}

const awaitedIn = new WeakMap<Store, Awaited>();

function openAwaited({ pool }: Store): Awaited {
  let ids = new Set<string>();
  const look = shared(async () => {
    const values = [[...ids]];
    ids = new Set();
    const text = "SELECT id FROM receipts WHERE id = ANY ($1)";
    const { rows } = await pool.query<{ id: string }>({ name: "awaited", text, values });
    return new Set(rows.map((row) => row.id));
  });
  return {
    async isSealed(id) {
      ids.add(id);
      return (await look()).has(id);
    },
  };
}
