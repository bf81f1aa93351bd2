import { setTimeout as sleep } from "node:timers/promises";
import { terminalLine } from "../../calls/approvals/mod.ts";
import { toLine } from "../../contract/mod.ts";
import { describeRefusal } from "../../integrations/settings_files/mod.ts";
import { type MessageKind, PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { type Db, listen, type Listener, openStore } from "../../store/mod.ts";
import { getApproval, listApprovals } from "../../store/approvals/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { listRefusedFiles } from "../../store/platform/mod.ts";
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
/** Longest reason of a line, in characters. */
const MAX_REASON = 240;
/** Pause before another attempt to connect for the first time. */
const RETRY_MS = 500;
/**
 * Kinds of messages that are printed, with the words for other tenants, whose texts are private; null: they have none. Those
 * that ask for an approval are printed while it waits.
 */
const WORDS: Partial<Record<MessageKind, string | null>> = {
  "incident.opened": "was opened",
  "incident.escalated": "was escalated",
  "incident.closed": "was resolved",
  "approval.decided": "was decided",
  "ledger.break": null,
  "settings.refused": null,
  "settings.taken": null,
};

/**
 * Prints a line for each incident that is opened, left to people or resolved, each approval that waits for people or was
 * decided, each settings file that was refused or taken, and each break of the ledger, as the feed has them, until the
 * platform stops. Each line has its time, its reason and the command that goes on. It begins with the settings files that are
 * refused and the approvals that wait already.
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
  const print = ({ at, text }: Line) => progress.news(toLine(text), at);

  async function printTenant(tenant: string): Promise<void> {
    const db = store.asTenant(tenant);
    if (!printed.has(tenant)) {
      const position = await getPositionAt(db, startedAt);
      if (tenant === PLATFORM_TENANT) (await listRefused(db, startedAt)).forEach(print);
      (await listWaiting(db, startedAt)).forEach(print);
      printed.set(tenant, position);
    }
    for (;;) {
      const messages = await listMessagesAfter(db, printed.get(tenant)!, PAGE_SIZE);
      for (const message of messages) {
        const text = await textOf(db, message);
        if (text !== undefined) print({ at: new Date(message.at), text });
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

/** A line: when it happened, and what. */
interface Line {
  readonly at: Date;
  readonly text: string;
}

/** Returns the lines of the approvals that have waited since before a time. */
async function listWaiting(db: Db, before: Date): Promise<Line[]> {
  const approvals = await listApprovals(db, { status: "pending", limit: MAX_WAITING });
  return approvals.reverse().map((one) => ({ at: new Date(one.askedAt), text: terminalLine(one) }))
    .filter(({ at }) => at < before);
}

/** Returns the lines of the settings files that are refused since before a time. */
async function listRefused(db: Db, before: Date): Promise<Line[]> {
  const files = await listRefusedFiles(db);
  return files.filter(({ since }) => since < before)
    .map((file) => ({ at: file.since, text: describeRefusal(file).join(" · ") }));
}

/** Returns the text of the line about a message; undefined: it has none, or there is nothing to tell any more. */
async function textOf(db: Db, message: Message): Promise<string | undefined> {
  const { kind, subject, refs } = message;
  if (kind === "approval.requested" || kind === "approval.expiring") {
    const approval = await getApproval(db, refs.approval_id!);
    return approval?.status === "pending" ? terminalLine(approval) : undefined;
  }
  const words = WORDS[kind];
  if (words === undefined) return undefined;
  const isOwn = db.tenant === PLATFORM_TENANT;
  const id = refs.ticket_id ?? refs.approval_id;
  const what = isOwn ? [subject, ...reasonsIn(message)] : [`${id} of tenant ${db.tenant} ${words}`];
  return [...what, ...nextCommand(message)].join(" · ");
}

/** Returns what a message says besides its subject, as far as a line has room. */
function reasonsIn({ kind, subject, text }: Message): string[] {
  if (kind === "settings.refused" || kind === "settings.taken") return text.split("\n");
  const [first = ""] = kind === "approval.decided" ? text.split("\n") : [text];
  const isNew = first !== "" && !subject.endsWith(first);
  return isNew ? [first.length > MAX_REASON ? `${first.slice(0, MAX_REASON)} …` : first] : [];
}

/** Returns the command that shows more. */
function nextCommand({ kind, refs: { ticket_id, approval_id } }: Message): string[] {
  if (kind === "ledger.break") return ["npm run verify"];
  if (approval_id !== undefined) return [`npm run approvals -- show ${approval_id}`];
  return ticket_id === undefined ? [] : [`npm run incidents -- show ${ticket_id}`];
}
