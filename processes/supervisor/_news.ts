import { setTimeout as sleep } from "node:timers/promises";
import { terminalLine } from "../../calls/approvals/mod.ts";
import { escapeInvisible } from "../../contract/mod.ts";
import { PLATFORM_TENANT } from "../../domain/mod.ts";
import {
  getApproval,
  getTicket,
  listApprovals,
  listen,
  type Listener,
  listTenants,
  listTickets,
  NEWS,
  type News,
  openStore,
  parseNews,
  type Store,
} from "../../store/mod.ts";
import type { Supervisor } from "./_supervisor.ts";

/** News of one kind of one tenant that are printed after a start, or after a lost connection. */
const MAX_MISSED = 20;
/** Overlap with what was printed before a lost connection, as transactions that began earlier may commit later. */
const OVERLAP_MS = 60_000;
/** Pause before another attempt to connect for the first time. */
const RETRY_MS = 500;
/** Printed lines that are remembered, so that none is printed twice. */
const MAX_PRINTED = 10_000;

/**
 * Prints a line for each incident that is opened and each approval that waits for people, until the platform stops. It
 * begins with the approvals that wait already.
 */
export function printNews(
  { progress, restarted }: Pick<Supervisor, "progress" | "restarted">,
  databaseUrl: string,
): void {
  const store = openStore(databaseUrl, "operator", 2);
  const printed = new Set<string>();
  let heardAt = Date.now();

  async function print(news: News): Promise<void> {
    const line = await lineOf(store, news);
    const key = isApproval(news) ? line : news.id; // an approval that is asked about again has another line
    if (line === undefined || key === undefined || printed.has(key)) return;
    if (printed.size === MAX_PRINTED) printed.clear();
    printed.add(key);
    progress.line(`  ${line}`);
  }

  const handlers = {
    onNotify(_: string, payload: string) {
      heardAt = Date.now();
      print(parseNews(payload)).catch(() => {}); // the database went away: printed after reconnecting
    },
    async onConnect() {
      const since = new Date(heardAt - OVERLAP_MS);
      for (const news of await listMissed(store, since)) await print(news);
    },
  };
  const stopping = new AbortController();
  restarted.push({ stopRestarting: () => stopping.abort() });
  void connect(() => listen(store, [NEWS], handlers), stopping.signal);
}

/** Connects a listener, which then reconnects by itself, and closes it at the signal. */
async function connect(open: () => Promise<Listener>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const listener = await open();
      signal.addEventListener("abort", () => void listener.close().catch(() => {}));
      return;
    } catch {
      await sleep(RETRY_MS); // PostgreSQL is being started again
    }
  }
}

/** Lists the approvals that wait, and the open incidents since a time, of all tenants. */
async function listMissed(store: Store, since: Date): Promise<News[]> {
  const missed: News[] = [];
  for (const tenant of await listTenants(store.db)) {
    const db = store.asTenant(tenant);
    const tickets = await listTickets(db, { status: "open", since, limit: MAX_MISSED });
    const approvals = await listApprovals(db, { status: "pending", limit: MAX_MISSED });
    const ids = [...tickets.map((one) => one.ticket_id), ...approvals.map((one) => one.id)];
    missed.push(...ids.reverse().map((id) => ({ tenant, id })));
  }
  return missed;
}

/** Returns the line about a ticket or a pending approval; undefined: there is nothing to tell any more. */
async function lineOf(store: Store, news: News): Promise<string | undefined> {
  const { tenant, id } = news;
  const db = store.asTenant(tenant);
  if (isApproval(news)) {
    const approval = await getApproval(db, id);
    return approval?.status === "pending" ? terminalLine(approval) : undefined;
  }
  const ticket = await getTicket(db, id);
  if (!ticket) return undefined;
  if (tenant !== PLATFORM_TENANT) return `${id} of tenant ${tenant} was opened`;
  return `${id} was opened (${ticket.severity}): ${escapeInvisible(ticket.title)}`;
}

function isApproval({ id }: News): boolean {
  return id.startsWith("APR-");
}
