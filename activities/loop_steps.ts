import { setTimeout as sleep } from "node:timers/promises";
import { openDetectionContext, recheck, type RecheckResult } from "../detection/mod.ts";
import {
  addTicketEvent,
  addTicketEvents,
  type Db,
  findTicketOfRun,
  getFindings,
  lockOpenTicket,
  openTicket as insertTicket,
  takeOverTicket,
} from "../store/mod.ts";
import type { Finding, RunId } from "../domain/mod.ts";
import { Problem } from "../contract/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { LOOP_ACTOR } from "../domain/mod.ts";
import { receiptIdOf } from "../calls/mod.ts";
import { type ActivityParts, ticketIdOf } from "./_parts.ts";
import { endRun } from "./ended_runs.ts";

/** What a step takes that opens a ticket. */
export interface TicketOrder {
  readonly finding: Finding;
  /** What the probe said just now. */
  readonly code: string;
  readonly run: RunId;
}

/** What a step takes that belongs to a round. */
export interface RoundStep {
  readonly finding: Finding;
  readonly ticket_id: string;
  /** What the last probe said. */
  readonly code: string;
  /** From 1. */
  readonly round: number;
  readonly run: RunId;
}

const HEALTHY_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;
/** A service that answers once may be on its way down; it is asked again after this, milliseconds. */
const LOOK_AGAIN_MS = 10;

/** The steps that look and write down, but act on nothing. */
export function loopSteps({ config, store, temporal }: ActivityParts) {
  const world = () => openDetectionContext({ config, store, temporal });

  /**
   * Looks again, by the detector that found it. A report that names no service which can be probed is believed. Safe to
   * repeat: it only looks.
   */
  async function detect(finding: Finding): Promise<{ present: boolean; code: string }> {
    return await recheck(world(), finding, "before") ??
      { present: finding.check === "report", code: finding.code };
  }

  /**
   * Opens the run's ticket, or takes over the one that is open for the same fault, and asks for its receipt: all or
   * nothing of it. Safe to repeat: the ticket names the run.
   *
   * @returns ticket id
   */
  async function openTicket(order: TicketOrder): Promise<string> {
    const { finding, run } = order;
    const [mine, words] = await Promise.all([
      findTicketOfRun(store.asPlatform(), run.workflow_id, run.run_id),
      wordsOf(store.asPlatform(), finding),
    ]);
    if (mine) return mine;
    const id = ticketIdOf(run);
    const isOpened = await store.asPlatform().transaction(async (trx) => {
      if (!await insertTicket(trx, newTicket(id, order, words))) return false;
      await addTicketEvents(trx, id, eventsOf(order, "opened"));
      await requestSeal(trx, receiptOf(order, id, "ticket.open"));
      return true;
    });
    return isOpened ? id : await takeOver(order);
  }

  /** Makes the open ticket of the same fault this run's own, in place of opening another. */
  async function takeOver(order: TicketOrder): Promise<string> {
    const { finding: { fingerprint }, run } = order;
    return await store.asPlatform().transaction(async (trx) => {
      const open = await lockOpenTicket(trx, fingerprint);
      if (!open) {
        throw new Problem("Unavailable", "The ticket of the same fault was closed just now");
      }
      if (open.runId === run.run_id) return open.id; // of two attempts at once
      if (!open.escalated) { // its run can't be running, as this one has its workflow id
        const before = { workflow_id: open.workflowId, run_id: open.runId };
        await endRun(trx, { ticket_id: open.id, status: "REPLACED", ...before });
      }
      await takeOverTicket(trx, open.id, run.workflow_id, run.run_id);
      await addTicketEvents(trx, open.id, eventsOf(order, "taken_over"));
      await requestSeal(trx, receiptOf(order, open.id, "ticket.take_over"));
      return open.id;
    });
  }

  /** Waits for the fault to be over, twice in a row. Safe to repeat: it only looks, and notes that it is over. */
  async function verify(step: RoundStep): Promise<{ healthy: boolean; code: string }> {
    const { finding, ticket_id, round, run } = step;
    const around = world();
    const seen = await settle(() => recheck(around, finding, "after"));
    const { healthy, code } = seen
      ? { healthy: !seen.present, code: seen.code }
      : { healthy: false, code: "no_check" };
    await addTicketEvent(store.asPlatform(), ticket_id, {
      key: `${run.run_id}/verified-${round}`,
      kind: healthy ? "verified" : "verification_failed",
      phase: healthy ? "verified" : undefined,
      data: { round, code },
    });
    return { healthy, code };
  }

  return { detect, openTicket, verify };
}

function eventsOf({ finding, code, run }: TicketOrder, kind: "opened" | "taken_over") {
  const { check, observed_at, related = [] } = finding;
  return [{
    key: `${run.run_id}/detected`,
    kind: "detected",
    phase: "detected" as const,
    data: { check, code, observed_at, ...related.length > 0 ? { related } : {} },
  }, {
    key: `${run.run_id}/ticketed`,
    kind,
    phase: "ticketed" as const,
    data: { workflow_id: run.workflow_id, run_id: run.run_id },
  }];
}

function receiptOf({ finding, code, run }: TicketOrder, ticketId: string, action: string) {
  const { check, fingerprint, related = [] } = finding;
  return {
    id: receiptIdOf(run, "TICKET"),
    category: "ticket_opened",
    actor: LOOP_ACTOR,
    subject: ticketId,
    action,
    outcome: "open",
    details: {
      ...{ check, code, fingerprint, ...run },
      ...related.length > 0 ? { related: related.length } : {},
    },
    evidence: { finding },
  };
}

/** What detectors say of a finding, and of what it is likely to be the cause of. */
async function wordsOf(on: Db, { fingerprint, related = [] }: Finding) {
  const known = await getFindings(on, [fingerprint, ...related.map((one) => one.fingerprint)]);
  const { summary, target } = known.get(fingerprint) ?? {};
  const remedy = typeof target?.remedy === "string" ? `What mends it: ${target.remedy}.` : "";
  const others = related.map(({ service, code, fingerprint }) =>
    known.get(fingerprint)?.summary ?? `${service ?? "something"}: ${code}`
  );
  if (others.length === 0) return { summary, description: remedy };
  const list = others.map((one) => `- ${one}`).join("\n");
  return { summary, description: `Likely the cause of ${others.length} more:\n${list}` };
}

function newTicket(
  id: string,
  { finding, code, run }: TicketOrder,
  { summary, description }: Awaited<ReturnType<typeof wordsOf>>,
) {
  const { service, check, report, fingerprint, requested_by, severity = "high" } = finding;
  return {
    id,
    title: check === "report"
      ? "Reported incident"
      : summary ?? `${service} fails its ${check} check (${code})`,
    description: report ?? description.slice(0, 4_000),
    severity,
    phase: "ticketed" as const,
    service,
    fingerprint,
    workflowId: run.workflow_id,
    runId: run.run_id,
    requestedBy: requested_by ?? "schedule",
  };
}

/** Looks until the fault is over twice in a row, or the time is; gives the last look. */
async function settle(
  look: () => Promise<RecheckResult | undefined>,
): Promise<RecheckResult | undefined> {
  const deadline = Date.now() + HEALTHY_WITHIN_MS;
  let last = await look();
  let before = false;
  while (last && (last.present || !before) && Date.now() < deadline) {
    before = !last.present;
    await sleep(before ? LOOK_AGAIN_MS : LOOK_EVERY_MS);
    last = await look();
  }
  return last;
}
