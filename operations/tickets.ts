import { randomBytes } from "node:crypto";
import { z } from "zod";
import { Problem } from "../contract/mod.ts";
import { findReceipt, requestSeal } from "../ledger/mod.ts";
import {
  addTicketEvent,
  endTicket,
  getTicket,
  insertTicket,
  listEffects,
  listTickets,
  resolutionTimes,
  setTicketReceipt,
  type Store,
  ticketTimeline,
  transaction,
} from "../store/mod.ts";
import { FULL } from "./_audience.ts";
import { operation } from "./platform.ts";
import { Limit, ReceiptId, Timestamp } from "./_shapes.ts";

const TicketId = z.string().regex(/^INC-[0-9a-f]{12}$/, "Expected INC- and 12 hex characters")
  .describe("Ticket id");
const Severity = z.enum(["critical", "high", "medium", "low"]);
const Status = z.enum(["open", "resolved"]);
const TicketShape = z.object({
  ticket_id: TicketId,
  title: z.string(),
  description: z.string(),
  severity: Severity,
  status: Status,
  phase: z.enum(["detected", "ticketed", "diagnosed", "remediated", "verified", "sealed"]),
  escalated: z.boolean(),
  service: z.string().nullable(),
  workflow_id: z.string().nullable(),
  run_id: z.string().nullable(),
  outcome: z.string().nullable(),
  resolution: z.string().nullable(),
  receipt_id: z.string().nullable(),
  opened_at: Timestamp,
  resolved_at: Timestamp.nullable(),
}).meta({ id: "Ticket" });
const TicketWithReceipt = TicketShape.extend({
  receipt: z.record(z.string(), z.unknown()).nullable().describe(
    "The embedded receipt, once it is sealed",
  ),
});

const exampleTicket = {
  ticket_id: "INC-4f1d22a90b7c",
  title: "billing fails its http check (refused)",
  description: "",
  severity: "high",
  status: "resolved",
  phase: "sealed",
  escalated: false,
  service: "billing",
  workflow_id: "loop-1d0f6a2b9c3e4857",
  run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
  outcome: "sealed",
  resolution: "Restarted and verified healthy in round 1",
  receipt_id: "9f2c4b7a01d3e856",
  opened_at: "2026-07-01T12:00:00.000Z",
  resolved_at: "2026-07-01T12:00:01.000Z",
};

const common = { group: "itsm" } as const;

async function existing(store: Store, id: string) {
  const ticket = await getTicket(store.knex, id);
  if (!ticket) throw new Problem("NotFound", `There is no ticket ${id}`);
  return ticket;
}

async function receiptOf(store: Store, receiptId: string | null) {
  if (receiptId === null) return null;
  try {
    return JSON.parse((await findReceipt(store, receiptId)).text);
  } catch (error) {
    if (error instanceof Problem && error.rule.status === 404) return null; // queued, not sealed yet
    throw error;
  }
}

/** Opens a ticket for people. */
export const createTicket = operation({
  ...common,
  name: "tickets.create",
  summary: "Open a ticket",
  effect: "run",
  access: "key",
  sealsItself: true,
  status: 201,
  input: z.object({
    title: z.string().trim().min(1).max(200),
    description: z.string().max(4000).default("").describe(
      "Kept privately; the receipt has a commitment to it",
    ),
    severity: Severity.default("medium"),
  }),
  output: TicketShape,
  rest: { itsm_ticket_create: "POST /v1/itsm/tickets" },
  tool: { itsm_create_ticket: FULL },
  example: { input: { title: "Printer on floor 3 jams", severity: "low" }, output: exampleTicket },
  run: async ({ title, description, severity }, { store, caller }) => {
    const id = `INC-${randomBytes(6).toString("hex")}`;
    await transaction(store, async (trx) => {
      await insertTicket(trx, {
        id,
        title,
        description,
        severity,
        phase: "ticketed",
        service: null,
        fingerprint: null,
        workflowId: null,
        runId: null,
        requestedBy: `key:${caller.keyId}`,
      });
      await addTicketEvent(trx, id, { key: "opened", kind: "opened", phase: "ticketed" });
      await requestSeal(trx, {
        category: "ticket_opened",
        actor: `key:${caller.keyId}`,
        subject: id,
        action: "tickets.create",
        outcome: "open",
        details: { severity },
        evidence: { title, description },
      });
    });
    return await existing(store, id);
  },
});

/** A ticket with its receipt. */
export const readTicket = operation({
  ...common,
  name: "tickets.read",
  summary: "Read a ticket, with its receipt once that is sealed",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: TicketWithReceipt,
  rest: { itsm_ticket: "GET /v1/itsm/tickets/{ticket_id}" },
  tool: { itsm_get_ticket: FULL },
  errors: ["NotFound"],
  example: {
    input: { ticket_id: "INC-4f1d22a90b7c" },
    output: { ...exampleTicket, receipt: null },
  },
  run: async ({ ticket_id }, { store }) => {
    const ticket = await existing(store, ticket_id);
    return { ...ticket, receipt: await receiptOf(store, ticket.receipt_id) };
  },
});

const TicketList = z.object({ tickets: z.array(TicketShape) });

/** Tickets by time. */
export const ticketList = operation({
  ...common,
  name: "tickets.list",
  summary: "List tickets, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    status: Status.optional().describe("Only those of this status"),
    limit: Limit,
  }),
  output: TicketList,
  rest: { itsm_incidents: "GET /v1/itsm/incidents" },
  tool: { itsm_list_tickets: FULL },
  example: { input: { status: "open" }, output: { tickets: [exampleTicket] } },
  run: async ({ status, limit }, { store }) => ({
    tickets: await listTickets(store.knex, { status, limit }),
  }),
});

/** Open tickets by urgency. */
export const openIncidents = operation({
  ...common,
  name: "tickets.open",
  summary: "List open tickets, the most severe first",
  effect: "read",
  access: "key",
  input: z.object({}),
  output: TicketList,
  tool: { itsm_list_open_incidents: FULL },
  example: { input: {}, output: { tickets: [] } },
  run: async (_, { store }) => ({
    tickets: await listTickets(store.knex, { status: "open", limit: 200, bySeverity: true }),
  }),
});

/** Resolves a ticket by a person's word. */
export const closeTicket = operation({
  ...common,
  name: "tickets.close",
  summary: "Resolve an open ticket with a resolution note",
  effect: "run",
  access: "partner",
  sealsItself: true,
  input: z.object({
    ticket_id: TicketId,
    resolution: z.string().trim().min(1).max(4000)
      .describe("Published with the receipt: write nothing in it that must stay private"),
  }),
  output: TicketShape,
  rest: { itsm_ticket_close: "POST /v1/itsm/tickets/{ticket_id}/close" },
  tool: { itsm_close_ticket: FULL },
  errors: ["NotFound", "Conflict"],
  example: {
    input: { ticket_id: "INC-4f1d22a90b7c", resolution: "Replaced the roller" },
    output: exampleTicket,
  },
  run: async ({ ticket_id, resolution }, { store, caller }) => {
    const ticket = await existing(store, ticket_id);
    await transaction(store, async (trx) => {
      const receiptId = randomBytes(8).toString("hex");
      const end = { resolved: true, outcome: "resolved", resolution, receiptId };
      if (!await endTicket(trx, ticket_id, end)) {
        throw new Problem(
          "Conflict",
          `Ticket ${ticket_id} is ${ticket.status}, and only an open one can be closed`,
        );
      }
      await addTicketEvent(trx, ticket_id, {
        key: "resolved",
        kind: "resolved",
        phase: "sealed",
        data: { receipt_id: receiptId },
      });
      await requestSeal(trx, {
        id: receiptId,
        category: "ticket_closed",
        actor: `key:${caller.keyId}`,
        subject: ticket_id,
        action: "tickets.close",
        outcome: "resolved",
        human_input: resolution,
      });
    });
    return await existing(store, ticket_id);
  },
});

/** What happened to a ticket. */
export const timeline = operation({
  ...common,
  name: "tickets.timeline",
  summary: "Read what happened to a ticket, oldest first",
  effect: "read",
  access: "key",
  input: z.object({ ticket_id: TicketId }),
  output: z.object({
    ticket_id: TicketId,
    events: z.array(z.object({
      at: Timestamp,
      kind: z.string(),
      phase: z.string().nullable(),
      data: z.record(z.string(), z.unknown()),
    })),
  }),
  rest: { itsm_ticket_timeline: "GET /v1/itsm/tickets/{ticket_id}/timeline" },
  tool: { itsm_get_incident_timeline: FULL },
  errors: ["NotFound"],
  example: {
    input: { ticket_id: "INC-4f1d22a90b7c" },
    output: {
      ticket_id: "INC-4f1d22a90b7c",
      events: [{ at: "2026-07-01T12:00:00.000Z", kind: "opened", phase: "ticketed", data: {} }],
    },
  },
  run: async ({ ticket_id }, { store }) => {
    await existing(store, ticket_id);
    return { ticket_id, events: await ticketTimeline(store.knex, ticket_id) };
  },
});

/** Names a receipt in a ticket. */
export const embedReceipt = operation({
  ...common,
  name: "tickets.embed_receipt",
  summary: "Embed a sealed receipt in a ticket",
  effect: "run",
  access: "partner",
  input: z.object({ ticket_id: TicketId, receipt_id: ReceiptId }),
  output: TicketWithReceipt,
  rest: { itsm_ticket_embed_receipt: "POST /v1/itsm/tickets/{ticket_id}/receipt" },
  tool: { itsm_embed_receipt: FULL },
  errors: ["NotFound", "ReceiptNotFound", "AmbiguousReceipt"],
  example: {
    input: { ticket_id: "INC-4f1d22a90b7c", receipt_id: "9f2c4b7a01d3e856" },
    output: { ...exampleTicket, receipt: null },
  },
  run: async ({ ticket_id, receipt_id }, { store }) => {
    await existing(store, ticket_id);
    const { id, text } = await findReceipt(store, receipt_id);
    await transaction(store, async (trx) => {
      await setTicketReceipt(trx, ticket_id, id);
      await addTicketEvent(trx, ticket_id, {
        key: `embedded-${id}`,
        kind: "receipt_embedded",
        data: { receipt_id: id },
      });
    });
    return { ...await existing(store, ticket_id), receipt: JSON.parse(text) };
  },
});

/** How long resolving takes. */
export const mttr = operation({
  ...common,
  name: "tickets.mttr",
  summary: "Tell how long tickets take to be resolved: mean, median and 90th percentile",
  effect: "read",
  access: "public",
  input: z.object({
    since: z.iso.datetime({ offset: true }).optional().describe("Only tickets resolved since"),
  }),
  output: z.looseObject({ resolved: z.number().int(), median_seconds: z.number().nullable() }),
  rest: { itsm_mttr: "GET /v1/itsm/mttr" },
  tool: { itsm_get_mttr_stats: FULL },
  example: {
    input: {},
    output: { resolved: 12, mean_seconds: 2.1, median_seconds: 1.4, p90_seconds: 4 },
  },
  run: ({ since }, { store }) => resolutionTimes(store.knex, since ? new Date(since) : null),
});

/** What was done to services. */
export const remediations = operation({
  ...common,
  name: "tickets.remediations",
  summary: "List repairs, newest first, with the share that was done and the time to resolution",
  effect: "read",
  access: "key",
  input: z.object({ limit: Limit }),
  output: z.looseObject({
    remediations: z.array(z.looseObject({})),
    success_rate: z.number().nullable(),
  }),
  rest: { itsm_remediations: "GET /v1/itsm/remediations" },
  tool: { itsm_get_remediation_history: FULL },
  example: { input: { limit: 1 }, output: { remediations: [], success_rate: null, mttr: {} } },
  run: async ({ limit }, { store }) => ({
    ...await listEffects(store.knex, limit),
    mttr: await resolutionTimes(store.knex, null),
  }),
});

/** Everything at a glance. */
export const dashboard = operation({
  ...common,
  name: "itsm.dashboard",
  summary: "Count tickets, services and repairs",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.looseObject({ tickets: z.record(z.string(), z.number()) }),
  rest: { itsm_dashboard: "GET /v1/itsm/dashboard" },
  tool: { itsm_dashboard_summary: FULL },
  example: {
    input: {},
    output: { tickets: { open: 0, resolved: 3, escalated: 0 }, services: { up: 5 } },
  },
  run: async (_, { store }) => {
    const [{ rows: [tickets] }, services, mttrStats, { success_rate }] = await Promise.all([
      store.pool.query(`SELECT count(*) FILTER (WHERE status = 'open')::int AS open,
        count(*) FILTER (WHERE status = 'resolved')::int AS resolved,
        count(*) FILTER (WHERE escalated AND status = 'open')::int AS escalated FROM tickets`),
      store.knex("services").select("status").count("* as n").groupBy("status"),
      resolutionTimes(store.knex, null),
      listEffects(store.knex, 1),
    ]);
    return {
      tickets,
      services: Object.fromEntries(services.map((row) => [row.status, Number(row.n)])),
      mttr: mttrStats,
      repair_success_rate: success_rate,
    };
  },
});
