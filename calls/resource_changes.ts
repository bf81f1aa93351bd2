import { exportReceipts, getHead } from "../ledger/mod.ts";
import { getNewestTicketChange, listen, listTicketChanges } from "../store/mod.ts";
import type { Platform } from "./platform.ts";

/** Receiver of changes of MCP resources. */
export interface ResourceFollower {
  /** Returns true where a client has subscribed to any resource. */
  hasSubscribers(): boolean;
  notifyChange(uri: string): void;
}

const MIN_PAUSE_MS = 100;
const POLL_MS = 2_000;
/** Ticket changes that are read again, as one that began earlier may be committed later. */
const OVERLAP = 200;
const MAX_AT_ONCE = 1_000;

/**
 * Reports changed resources while any client follows one: after every sealing, which most changes come with, and every
 * two seconds for the others.
 */
export async function followResources(
  { store, log }: Pick<Platform, "store" | "log">,
  { hasSubscribers, notifyChange }: ResourceFollower,
): Promise<{ close(): Promise<void> }> {
  const db = store.asPlatform();
  let change: number | undefined;
  let position: number | undefined;
  const reported = new Set<number>();
  let reading: Promise<void> | undefined;
  let next: NodeJS.Timeout | undefined;
  let lastReadMs = 0;

  const warn = (err: unknown) => log.warn({ err }, "Cannot look for changed resources");

  async function read(): Promise<void> {
    if (!hasSubscribers() || change === undefined || position === undefined) {
      change = await getNewestTicketChange(db);
      position = (await getHead(store)).size;
      return reported.clear();
    }
    const since = change;
    const changes = await listTicketChanges(db, Math.max(0, since - OVERLAP), MAX_AT_ONCE);
    const fresh = changes.filter(({ id }) => id > since || reported.size > 0 && !reported.has(id));
    const receipts = await exportReceipts(store, { from: position, to: position + MAX_AT_ONCE });
    reported.clear();
    for (const { id } of changes) reported.add(id);
    change = Math.max(since, ...changes.map(({ id }) => id));
    position += receipts.length;
    for (const ticketId of new Set(fresh.map(({ ticketId }) => ticketId))) {
      notifyChange(`sealoop://tickets/${ticketId}`);
      notifyChange(`sealoop://incidents/${ticketId}`);
    }
    for (const { id } of receipts) notifyChange(`sealoop://receipts/${encodeURIComponent(id)}`);
    if (fresh.length > 0) {
      notifyChange("sealoop://tickets");
      notifyChange("sealoop://incidents");
    }
    if (receipts.length > 0) notifyChange("sealoop://receipts");
    if (receipts.length === MAX_AT_ONCE || changes.length === MAX_AT_ONCE) readSoon();
  }

  function readSoon(): void {
    next ??= setTimeout(() => {
      next = undefined;
      lastReadMs = Date.now();
      reading = (reading ?? Promise.resolve()).then(read).catch(warn);
    }, Math.max(0, lastReadMs + MIN_PAUSE_MS - Date.now())).unref();
  }

  await read().catch(warn); // the starting point: whoever follows from now on misses nothing
  const listener = await listen(store, ["sealoop_sealed"], {
    onNotify: () => {
      if (hasSubscribers()) readSoon();
    },
    onConnect: readSoon,
  });
  const timer = setInterval(readSoon, POLL_MS).unref();
  return {
    async close() {
      clearInterval(timer);
      clearTimeout(next);
      await listener.close();
      await reading;
    },
  };
}
