import { exportReceipts, getHead } from "../ledger/mod.ts";
import { type Db, listen } from "../store/mod.ts";
import { getNewestTicketChange, listTicketChanges } from "../store/incidents/mod.ts";
import type { Platform } from "./platform.ts";

/** Receiver of changes of MCP resources. */
export interface ResourceFollower {
  /** Returns the tenants of the clients that have subscribed to any resource. */
  subscribedTenants(): ReadonlySet<string>;
  /** @param tenant that owns the resource; undefined: it is public */
  notifyChange(uri: string, tenant?: string): void;
}

const MIN_PAUSE_MS = 100;
const POLL_MS = 2_000;
/** Ticket changes that are read again, as one that began earlier may be committed later. */
const OVERLAP = 200;
const MAX_AT_ONCE = 1_000;

/** Reads the changes of one tenant's tickets, each once. */
interface TicketChanges {
  /** Returns the tickets that have changed since the last call. */
  read(): Promise<{ readonly ticketIds: ReadonlySet<string>; readonly isMore: boolean }>;
}

/**
 * Reports changed resources while any client follows one: after every sealing, which most changes come with, and every
 * two seconds for the others. Changes of tickets are read in the name of the subscribers' tenants, and reported to those.
 */
export async function followResources(
  { store, log }: Pick<Platform, "store" | "log">,
  { subscribedTenants, notifyChange }: ResourceFollower,
): Promise<{ close(): Promise<void> }> {
  const changes = new Map<string, TicketChanges>();
  let position: number | undefined;
  let change: number | undefined;
  let reading: Promise<void> | undefined;
  let next: NodeJS.Timeout | undefined;
  let lastReadMs = 0;

  const warn = (err: unknown) => log.warn({ err }, "Cannot look for changed resources");

  async function read(): Promise<void> {
    const tenants = subscribedTenants();
    for (const tenant of changes.keys()) if (!tenants.has(tenant)) changes.delete(tenant);
    const newest = await getNewestTicketChange(store.db);
    if (tenants.size === 0 || position === undefined || change === undefined) {
      position = (await getHead(store)).size;
      change = newest;
      return;
    }
    const since = change;
    const more = await Promise.all([
      readReceipts(position),
      ...[...tenants].map((tenant) => readTickets(tenant, since)),
    ]);
    change = newest;
    if (more.includes(true)) readSoon();
  }

  /** @returns true where there are more */
  async function readReceipts(from: number): Promise<boolean> {
    const receipts = await exportReceipts(store, { from, to: from + MAX_AT_ONCE });
    position = from + receipts.length;
    for (const { id } of receipts) notifyChange(`sealoop://receipts/${encodeURIComponent(id)}`);
    if (receipts.length > 0) notifyChange("sealoop://receipts");
    return receipts.length === MAX_AT_ONCE;
  }

  /** @param since the newest change before the tenant's first subscription @returns true where there are more */
  async function readTickets(tenant: string, since: number): Promise<boolean> {
    const own = changes.get(tenant) ?? openTicketChanges(store.asTenant(tenant), since);
    changes.set(tenant, own);
    const { ticketIds, isMore } = await own.read();
    for (const id of ticketIds) {
      notifyChange(`sealoop://tickets/${id}`, tenant);
      notifyChange(`sealoop://incidents/${id}`, tenant);
    }
    if (ticketIds.size > 0) {
      notifyChange("sealoop://tickets", tenant);
      notifyChange("sealoop://incidents", tenant);
    }
    return isMore;
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
      if (subscribedTenants().size > 0) readSoon();
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

/** @param since a change that is not reported any more */
function openTicketChanges(db: Db, since: number): TicketChanges {
  let newest = since;
  const reported = new Set<number>();
  return {
    async read() {
      const last = newest;
      const changes = await listTicketChanges(db, Math.max(0, last - OVERLAP), MAX_AT_ONCE);
      const fresh = changes.filter(({ id }) => id > last || reported.size > 0 && !reported.has(id));
      reported.clear();
      for (const { id } of changes) reported.add(id);
      newest = Math.max(last, ...changes.map(({ id }) => id));
      return {
        ticketIds: new Set(fresh.map(({ ticketId }) => ticketId)),
        isMore: changes.length === MAX_AT_ONCE,
      };
    },
  };
}
