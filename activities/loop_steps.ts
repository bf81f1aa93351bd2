import { setTimeout as sleep } from "node:timers/promises";
import { openWorld, recheck, type Rechecked } from "../integrations/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import {
  addTicketEvent,
  getFindings,
  insertTicket,
  lockOpenTicket,
  type Queryable,
  takeOverTicket,
  ticketOfRun,
  transaction,
} from "../store/mod.ts";
import type { Finding, RunId } from "../workflows/mod.ts";
import { type ActivityParts, ACTOR, receiptIdOf, ticketIdOf } from "./_parts.ts";
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
  const world = () => openWorld({ config, store, temporal: () => Promise.resolve(temporal) });

  /**
   * Looks again, by the detector that found it. A report that names no service which can be probed is believed. Safe to
   * repeat: it only looks.
   */
  async function detect(finding: Finding): Promise<{ present: boolean; code: string }> {
    return await recheck(world(), finding, "before") ??
      { present: finding.check === "report", code: finding.code };
  }

  /**
   * Opens the run's ticket, or takes over the one that is open for the same fault, and asks for its receipt, in one
   * transaction. Safe to repeat: the ticket names the run.
   *
   * @returns ticket id
   */
  async function openTicket({ finding, code, run }: TicketOrder): Promise<string> {
    const { related = [] } = finding;
    return await transaction(store, async (trx) => {
      const mine = await ticketOfRun(trx, run.workflow_id, run.run_id);
      if (mine) return mine;
      const taken = await takeOver(trx, finding, run);
      const id = taken ?? ticketIdOf(run);
      if (!taken) {
        const words = await wordsOf(trx, finding);
        await insertTicket(trx, newTicket(id, { finding, code, run }, words));
      }
      await addTicketEvent(trx, id, {
        key: `${run.run_id}/detected`,
        kind: "detected",
        phase: "detected",
        data: {
          ...{ check: finding.check, code, observed_at: finding.observed_at },
          ...related.length > 0 ? { related } : {},
        },
      });
      await addTicketEvent(trx, id, {
        key: `${run.run_id}/ticketed`,
        kind: taken ? "taken_over" : "opened",
        phase: "ticketed",
        data: { workflow_id: run.workflow_id, run_id: run.run_id },
      });
      await requestSeal(trx, {
        id: receiptIdOf(run, "TICKET"),
        category: "ticket_opened",
        actor: ACTOR,
        subject: id,
        action: taken ? "ticket.take_over" : "ticket.open",
        outcome: "open",
        details: {
          ...{ check: finding.check, code, fingerprint: finding.fingerprint, ...run },
          ...related.length > 0 ? { related: related.length } : {},
        },
        evidence: { finding },
      });
      return id;
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
    await addTicketEvent(store.knex, ticket_id, {
      key: `${run.run_id}/verified-${round}`,
      kind: healthy ? "verified" : "verification_failed",
      phase: healthy ? "verified" : undefined,
      data: { round, code },
    });
    return { healthy, code };
  }

  return { detect, openTicket, verify };
}

/** Makes the open ticket of the same fault this run's own, in place of opening another. */
async function takeOver(
  on: Queryable,
  { fingerprint }: Finding,
  { workflow_id, run_id }: RunId,
): Promise<string | undefined> {
  const open = await lockOpenTicket(on, fingerprint);
  if (!open) return undefined;
  if (!open.escalated) { // its run can't be running, as this one has its workflow id
    const before = { workflow_id: open.workflowId, run_id: open.runId };
    await endRun(on, { ticket_id: open.id, status: "REPLACED", ...before });
  }
  await takeOverTicket(on, open.id, workflow_id, run_id);
  return open.id;
}

/** What detectors say of a finding, and of what it is likely to be the cause of. */
async function wordsOf(on: Queryable, { fingerprint, related = [] }: Finding) {
  const known = await getFindings(on, [fingerprint, ...related.map((one) => one.fingerprint)]);
  const summary = known.get(fingerprint)?.summary;
  const others = related.map(({ service, code, fingerprint }) =>
    known.get(fingerprint)?.summary ?? `${service ?? "something"}: ${code}`
  );
  if (others.length === 0) return { summary, description: "" };
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
    phase: "detected" as const,
    service,
    fingerprint,
    workflowId: run.workflow_id,
    runId: run.run_id,
    requestedBy: requested_by ?? "schedule",
  };
}

/** Looks until the fault is over twice in a row, or the time is; gives the last look. */
async function settle(look: () => Promise<Rechecked | undefined>): Promise<Rechecked | undefined> {
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
