import { createHash } from "node:crypto";
import { receiptIdOf } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  cutText,
  type Finding,
  joinTexts,
  LOOP_ACTOR,
  type ObserverName,
  RESTART_ASKED,
  type RunId,
  say,
  type Text,
} from "../../contract/domain/mod.ts";
import { chooseObservers } from "../../judgement/observation/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { getPublicService } from "../../store/cmdb/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  addTicketEvents,
  findTicketOfRun,
  getFindings,
  lockOpenTicket,
  type NewTicket,
  openTicket as insertTicket,
  takeOverTicket,
  type TicketEvent,
} from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { recordEndedRun } from "./open.ts";
import { findSubject } from "./_subject.ts";

/** A ticket to open, or to take over. */
export interface TicketOrder {
  readonly finding: Finding;
  /** Code of the last probe. */
  readonly code: string;
  readonly run: RunId;
}

/** Checks of services by their own entries. */
const SERVICE_CHECKS: ReadonlySet<Finding["check"]> = new Set(["http", "tcp", "command"]);

/** The ticket of a run. */
interface OpenedTicket {
  readonly ticket_id: string;
  /** Sources that may see something of the fault, as they look together. */
  readonly looks: readonly (readonly ObserverName[])[];
}

/** Title and description of a finding. */
interface TicketText {
  /** Undefined: no detector described it. */
  readonly summary: Text | undefined;
  readonly description: Text;
}

/** Creates the activity that opens tickets. */
export function ticketActivities({ store }: ActivityParts) {
  const db = store.db;

  /**
   * Opens the run's ticket, or takes over the open ticket of the same fault, and requests the receipt; in one
   * transaction. Chooses who will look at the fault. Safe to repeat: the ticket names the run.
   */
  async function openTicket(order: TicketOrder): Promise<OpenedTicket> {
    const [ticket_id, subject] = await Promise.all([openTicketOf(order), findSubject(db, order)]);
    return { ticket_id, looks: chooseObservers(subject) };
  }

  async function openTicketOf(order: TicketOrder): Promise<string> {
    const { finding, run } = order;
    const [ownTicket, text] = await Promise.all([
      findTicketOfRun(db, run.workflow_id, run.run_id),
      textOf(db, finding),
    ]);
    if (ownTicket) return ownTicket;
    const id = ticketIdOf(run);
    const isOpened = await db.transaction(async (trx) => {
      if (!await insertTicket(trx, newTicket(id, order, text))) return false;
      await addTicketEvents(trx, id, eventsOf(order, "opened"));
      await requestSeal(trx, await receiptOf(trx, order, id, "ticket.open"));
      return true;
    });
    return isOpened ? id : await takeOver(order);
  }

  /** Makes the open ticket of the same fault this run's own. */
  async function takeOver(order: TicketOrder): Promise<string> {
    const { finding: { fingerprint }, run } = order;
    return await db.transaction(async (trx) => {
      const ticket = await lockOpenTicket(trx, fingerprint);
      if (!ticket) {
        throw new Problem(
          "Unavailable",
          `Cannot take over the ticket of fault ${fingerprint}: it was closed just now`,
        );
      }
      if (ticket.runId === run.run_id) return ticket.id; // another attempt was faster
      if (!ticket.escalated) {
        // Its run has ended, as this run has the same workflow id.
        const before = { workflow_id: ticket.workflowId, run_id: ticket.runId };
        await recordEndedRun(trx, ticket.id, before, "REPLACED");
      }
      await takeOverTicket(trx, ticket.id, run.workflow_id, run.run_id);
      await addTicketEvents(trx, ticket.id, eventsOf(order, "taken_over"));
      await requestSeal(trx, await receiptOf(trx, order, ticket.id, "ticket.take_over"));
      return ticket.id;
    });
  }

  return { openTicket };
}

/** Returns the id of the ticket that a run opens. */
function ticketIdOf({ workflow_id, run_id }: RunId): string {
  const hash = createHash("sha256").update(`${workflow_id}\n${run_id}`).digest("hex");
  return `INC-${hash.slice(0, 12)}`;
}

function eventsOf(
  { finding, code, run }: TicketOrder,
  kind: "opened" | "taken_over",
): TicketEvent[] {
  const { check, observed_at, requested_by, related = [], tried_again } = finding;
  return [
    {
      key: `${run.run_id}/detected`,
      kind: "detected",
      phase: "detected",
      data: { check, code, observed_at, ...(related.length > 0 ? { related } : {}) },
    },
    {
      key: `${run.run_id}/ticketed`,
      kind,
      phase: "ticketed",
      data: {
        workflow_id: run.workflow_id,
        run_id: run.run_id,
        ...(requested_by === undefined ? {} : { requested_by }),
        ...(tried_again === undefined ? {} : { because: tried_again }),
      },
    },
  ];
}

/** Returns the receipt of a ticket. It names the service where the operator has made its name public. */
async function receiptOf(
  trx: Db,
  { finding, code, run }: TicketOrder,
  ticketId: string,
  action: string,
) {
  const { check, fingerprint, related = [], service } = finding;
  const named = await getPublicService(trx, service);
  return {
    id: receiptIdOf(run, "TICKET"),
    category: "ticket_opened",
    actor: LOOP_ACTOR,
    subject: ticketId,
    action,
    outcome: "open",
    details: {
      check,
      code,
      fingerprint,
      ...(named ? { service_id: named.id } : {}),
      ...run,
      ...(related.length > 0 ? { related: related.length } : {}),
    },
    evidence: { finding },
  };
}

/** Returns the detectors' descriptions of a finding and of the findings that it probably causes. */
async function textOf(db: Db, { fingerprint, related = [] }: Finding): Promise<TicketText> {
  const found = await getFindings(db, [fingerprint, ...related.map((one) => one.fingerprint)]);
  const { summary, target } = found.get(fingerprint) ?? {};
  const remedy = typeof target?.remedy === "string" ? say`What mends it: ${target.remedy}.` : "";
  if (related.length === 0) return { summary, description: remedy };
  const lines = related.map(({ service, code, fingerprint }) =>
    say`- ${found.get(fingerprint)?.summary ?? say`${service ?? say`something`}: ${code}`}`
  );
  return {
    summary,
    description: joinTexts([
      ...(remedy === "" ? [] : [remedy]),
      say`Likely the cause of ${related.length} more:`,
      ...lines,
    ], "\n"),
  };
}

function newTicket(
  id: string,
  { finding, code, run }: TicketOrder,
  { summary, description }: TicketText,
): NewTicket {
  const { service, check, report, fingerprint, requested_by, severity = "high" } = finding;
  return {
    id,
    title: finding.code === RESTART_ASKED
      ? say`A restart of ${service} was asked for`
      : check === "report"
      ? say`Reported incident`
      : summary ?? say`${service} fails its ${check} check (${code})`,
    description: report ?? cutText(description, 4_000),
    severity,
    phase: "ticketed",
    service,
    fingerprint,
    workflowId: run.workflow_id,
    runId: run.run_id,
    failsCheck: SERVICE_CHECKS.has(check),
    requestedBy: requested_by ?? "schedule",
  };
}
