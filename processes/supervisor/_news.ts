import { setTimeout as sleep } from "node:timers/promises";
import { terminalLine } from "../../calls/approvals/mod.ts";
import { toLine } from "../../contract/mod.ts";
import { type MessageKind, PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { type Db, listen, type Listener, openStore } from "../../store/mod.ts";
import { getApproval, listApprovals } from "../../store/approvals/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import {
  getPositionAt,
  listMessagesAfter,
  type Message,
  MESSAGES_ADDED,
} from "../../store/notices/mod.ts";
import type { Supervisor } from "./_supervisor.ts";

/** Approvals that are printed at the start. */
const MAX_WAITING = 20;
const PAGE_SIZE = 100;
/** Pause before another attempt to connect for the first time. */
const RETRY_MS = 500;
/**
 * Kinds of messages that are printed with their subject, and for other tenants, whose texts are private, with these words.
 * Messages about an approval are printed while it waits.
 */
const WORDS: Partial<Record<MessageKind, string>> = {
  "incident.opened": "was opened",
  "incident.escalated": "was escalated",
  "incident.closed": "was resolved",
  "ledger.break": "has a break of the ledger",
};

/**
 * Prints a line for each incident that is opened, left to people or resolved, each approval that waits for people and each
 * break of the ledger, as the feed has them, until the platform stops. It begins with the approvals that wait already.
 */
export function printNews(
  { progress, restarted }: Pick<Supervisor, "progress" | "restarted">,
  databaseUrl: string,
): void {
  const store = openStore(databaseUrl, "operator", 2);
  const startedAt = new Date(performance.timeOrigin);
  /** Positions up to which each tenant's feed was printed. */
  const printed = new Map<string, number>();
  let printing = Promise.resolve();
  const print = (line: string | undefined) => line && progress.line(`  ${toLine(line)}`);

  async function printTenant(tenant: string): Promise<void> {
    const db = store.asTenant(tenant);
    if (!printed.has(tenant)) {
      const position = await getPositionAt(db, startedAt);
      for (const line of await listWaiting(db, startedAt)) print(line);
      printed.set(tenant, position);
    }
    for (;;) {
      const messages = await listMessagesAfter(db, printed.get(tenant)!, PAGE_SIZE);
      for (const message of messages) {
        print(await lineOf(db, message));
        printed.set(tenant, message.position);
      }
      if (messages.length < PAGE_SIZE) return;
    }
  }

  /** Prints one after the other, so that no line is printed twice. While the database is away, nothing is. */
  function run(work: () => Promise<void>): Promise<void> {
    return printing = printing.then(work).catch(() => {});
  }

  const handlers = {
    onNotify: (_: string, tenant: string) => void run(() => printTenant(tenant)),
    onConnect: () =>
      run(async () => {
        for (const tenant of await listTenants(store.db)) await printTenant(tenant);
      }),
  };
  const stopping = new AbortController();
  restarted.push({ stopRestarting: () => stopping.abort() });
  void connect(() => listen(store, [MESSAGES_ADDED], handlers), stopping.signal);
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

/** Returns the lines of the approvals that have waited since before a time. */
async function listWaiting(db: Db, before: Date): Promise<string[]> {
  const approvals = await listApprovals(db, { status: "pending", limit: MAX_WAITING });
  return approvals.filter(({ askedAt }) => new Date(askedAt) < before).reverse().map(terminalLine);
}

/** Returns the text of the line about a message; undefined: it has none, or there is nothing to tell any more. */
async function lineOf(db: Db, { kind, subject, refs }: Message): Promise<string | undefined> {
  if (kind === "approval.requested" || kind === "approval.expiring") {
    const approval = await getApproval(db, refs.approval_id!);
    return approval?.status === "pending" ? terminalLine(approval) : undefined;
  }
  const words = WORDS[kind];
  if (words === undefined) return undefined;
  if (db.tenant === PLATFORM_TENANT) return subject;
  return `${refs.ticket_id} of tenant ${db.tenant} ${words}`;
}
