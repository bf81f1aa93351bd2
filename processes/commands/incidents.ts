/** `npm run incidents -- …`: lists and shows incidents of all tenants, from the database. */
import { toLine } from "../../contract/mod.ts";
import { PLATFORM_TENANT } from "../../contract/domain/mod.ts";
import { describeEvents } from "../../operations/incidents/tickets/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import { listApprovalMoves } from "../../store/approvals/mod.ts";
import {
  getTicket,
  listTicketEvents,
  listTickets,
  type Ticket,
} from "../../store/incidents/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import { UsageError } from "./_arguments.ts";
import { formatTable, runCommand } from "./_command.ts";

const USAGE = `Usage: npm run incidents -- list [--all]
       npm run incidents -- show <incident id>

Shows incidents of all tenants: what happened, in sentences, and what goes on. In the console, people see those of their own
tenant, at /console/incidents/<incident id>.
--all: the newest resolved ones, too.`;

/** Incidents of a tenant that are listed. */
const MAX_LISTED = 100;

await runCommand(USAGE, {
  all: { type: "boolean", default: false },
}, async (openStore, { words: [verb, id, ...more], options }) => {
  if (more.length > 0 || verb === "list" && id !== undefined) {
    throw new UsageError(`Unexpected argument: ${more[0] ?? id}`);
  }
  if (verb === "list") return await list(openStore(), options.all === true);
  if (verb !== "show") throw new UsageError("Give one of list, show");
  if (!/^INC-[0-9a-f]{12}$/.test(id ?? "")) {
    throw new UsageError(
      "show needs an incident's id, INC- and 12 hex characters; list shows them",
    );
  }
  await show(openStore(), id!);
});

async function list(store: Store, all: boolean): Promise<void> {
  const rows: string[][] = [];
  for (const tenant of await listTenants(store.db)) {
    const filter = { ...(all ? {} : { status: "open" as const }), limit: MAX_LISTED };
    for (const ticket of await listTickets(store.asTenant(tenant), filter)) {
      const { ticket_id, opened_at, severity, title } = ticket;
      rows.push([opened_at, ticket_id, tenant, stateOf(ticket), severity, title]);
    }
  }
  if (rows.length === 0) return console.log(all ? "There is no incident" : "No incident is open");
  rows.sort(([a], [b]) => a! < b! ? -1 : 1);
  console.log(formatTable(["opened", "incident", "tenant", "state", "severity", "title"], rows));
}

async function show(store: Store, id: string): Promise<void> {
  for (const tenant of await listTenants(store.db)) {
    const db = store.asTenant(tenant);
    const ticket = await getTicket(db, id);
    if (ticket) return console.log(await describe(db, ticket, tenant));
  }
  throw new Error(`There is no incident ${id}; npm run incidents -- list --all shows them`);
}

async function describe(db: Db, ticket: Ticket, tenant: string): Promise<string> {
  const { ticket_id: id, approval_id, receipt_id } = ticket;
  const events = await listTicketEvents(db, id);
  const approvals = new Set(events.flatMap(({ data }) => data.approval_id ?? []).map(String));
  const moves = await Promise.all([...approvals].map((one) => listApprovalMoves(db, one)));
  const fields = [
    ["title", ticket.title],
    ["tenant", tenant],
    ["service", ticket.service],
    ["severity", ticket.severity],
    ["opened", ticket.opened_at],
    ["resolved", ticket.resolved_at],
    ["how", ticket.resolution],
    ["waits for", approval_id && `${approval_id}; npm run approvals -- show ${approval_id}`],
    ["receipt", receipt_id && `${receipt_id}; npm run evidence -- ${receipt_id}`],
    ["console", tenant === PLATFORM_TENANT ? `/console/incidents/${id}; npm run console` : null],
  ].flatMap(([name, text]) => text ? [`  ${name!.padEnd(12)}${toLine(text)}`] : []);
  const sentences = describeEvents({ events, moves: moves.flat() })
    .map(({ at, text }) => `  ${at}  ${toLine(text)}`);
  return [`${id} is ${stateOf(ticket)}`, ...fields, "", ...sentences].join("\n");
}

function stateOf({ status, escalated }: Ticket): string {
  return status === "open" && escalated ? "left to people" : status;
}
