import { exportReceipts, head } from "../ledger/mod.ts";
import { listen, getNewestTicketChange, listTicketChanges } from "../store/mod.ts";
import type { Platform } from "../calls/platform.ts";

/** Who is told of changes. */
export interface Follower {
  /** Whether anybody wants to know. */
  followed(): boolean;
  changed(uri: string): void;
}

/** Least milliseconds between two looks, and most. */
const SOONEST_MS = 100;
const LATEST_MS = 2_000;
/** Moves that are looked at again, as one that began earlier may be written later. */
const OVERLAP = 200;
const MOST = 1_000;

/**
 * Tells of resources that changed, while anybody wants to know: at every sealing, which most changes come with, and every
 * two seconds for the others. What is changed costs nothing by it.
 */
export async function followResources(
  { store, log }: Pick<Platform, "store" | "log">,
  { followed, changed }: Follower,
): Promise<{ close(): Promise<void> }> {
  let move: number | undefined;
  let position: number | undefined;
  const told = new Set<number>();
  let looking: Promise<void> | undefined;
  let again: NodeJS.Timeout | undefined;
  let lastLook = 0;

  const warn = (err: unknown) => log.warn({ err }, "Cannot look for changed resources");

  async function look(): Promise<void> {
    if (!followed() || move === undefined || position === undefined) {
      move = await getNewestTicketChange(store.asPlatform());
      position = (await head(store)).size;
      return told.clear();
    }
    const since = move;
    const moves = await listTicketChanges(store.asPlatform(), Math.max(0, move - OVERLAP), MOST);
    const fresh = moves.filter(({ id }) => id > since || told.size > 0 && !told.has(id));
    const receipts = await exportReceipts(store, { from: position, to: position + MOST });
    told.clear();
    for (const { id } of moves) told.add(id);
    move = Math.max(move, ...moves.map(({ id }) => id));
    position += receipts.length;
    for (const ticketId of new Set(fresh.map(({ ticketId }) => ticketId))) {
      changed(`sealoop://tickets/${ticketId}`);
      changed(`sealoop://incidents/${ticketId}`);
    }
    for (const { id } of receipts) changed(`sealoop://receipts/${encodeURIComponent(id)}`);
    if (fresh.length > 0) {
      for (const kind of ["tickets", "incidents"]) changed(`sealoop://${kind}`);
    }
    if (receipts.length > 0) changed("sealoop://receipts");
    if (receipts.length === MOST || moves.length === MOST) soon();
  }

  function soon(): void {
    again ??= setTimeout(() => {
      again = undefined;
      lastLook = Date.now();
      looking = (looking ?? Promise.resolve()).then(look)
        .catch(warn);
    }, Math.max(0, lastLook + SOONEST_MS - Date.now())).unref();
  }

  await look().catch(warn); // whoever follows from now on misses nothing
  const listener = await listen(store, ["sealoop_sealed"], {
    onNotify: () => {
      if (followed()) soon();
    },
    onConnect: soon,
  });
  const timer = setInterval(soon, LATEST_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      clearTimeout(again);
      await listener.close();
      await looking;
    },
  };
}
