import { heartbeat } from "@temporalio/activity";
import { setTimeout as sleep } from "node:timers/promises";
import { createHash } from "node:crypto";
import { canonicalize, requestSeal } from "../ledger/mod.ts";
import { probe } from "../integrations/mod.ts";
import { addTicketEvent, insertTicket, transaction } from "../store/mod.ts";
import type { Action, Diagnosis, Finding, RunId } from "../workflows/mod.ts";
import { type ActivityParts, ACTOR, receiptIdOf, serviceOf, ticketIdOf } from "./_parts.ts";

/** A step of a run that has its ticket. */
export interface TicketStep {
  readonly finding: Finding;
  readonly ticket_id: string;
  /** From 1. */
  readonly round: number;
}

const HEALTHY_WITHIN_MS = 15_000;
const PROBE_EVERY_MS = 100;

/** The steps that look and write down, but act on nothing. */
export function loopSteps({ store }: ActivityParts) {
  /** Probes again. A report that names no service which can be probed is believed. Safe to repeat: it only looks. */
  async function detect(finding: Finding): Promise<{ present: boolean; code: string }> {
    const service = await serviceOf(store.knex, finding);
    if (!service?.check) return { present: finding.check === "report", code: finding.code };
    const { healthy, code } = await probe(service.check);
    return { present: !healthy, code };
  }

  /** Opens the run's ticket and asks for its receipt, in one transaction. Safe to repeat: the run names the ticket. */
  async function openTicket(
    { finding, code, run }: { finding: Finding; code: string; run: RunId },
  ): Promise<string> {
    const id = ticketIdOf(run);
    const service = finding.service ?? "reported incident";
    await transaction(store, async (trx) => {
      const isNew = await insertTicket(trx, {
        id,
        title: finding.service
          ? `${service} fails its ${finding.check} check (${code})`
          : "Reported incident",
        description: finding.report ?? "",
        severity: "high",
        phase: "ticketed",
        service: finding.service,
        fingerprint: finding.fingerprint,
        workflowId: run.workflow_id,
        runId: run.run_id,
        requestedBy: finding.requested_by ?? "schedule",
      });
      if (!isNew) return;
      await addTicketEvent(trx, id, {
        key: "detected",
        kind: "detected",
        phase: "detected",
        data: { check: finding.check, code, observed_at: finding.observed_at },
      });
      await addTicketEvent(trx, id, { key: "opened", kind: "opened", phase: "ticketed" });
      await requestSeal(trx, {
        id: receiptIdOf(run, "TICKET"),
        category: "ticket_opened",
        actor: ACTOR,
        subject: id,
        action: "ticket.open",
        outcome: "open",
        details: { check: finding.check, code, fingerprint: finding.fingerprint, ...run },
        evidence: { finding },
      });
    });
    return id;
  }

  /** Names the cause by the failing probe, and the repair by the service's runbook. Safe to repeat: it only looks. */
  async function diagnose({ finding, ticket_id, round }: TicketStep): Promise<Diagnosis> {
    const service = await serviceOf(store.knex, finding);
    const result = service?.check ? await probe(service.check) : undefined;
    const cause = result?.healthy === false ? result.code : finding.code;
    const action = service?.restart ? restartOf(service.name, service.restart) : null;
    await addTicketEvent(store.knex, ticket_id, {
      key: `diagnosed-${round}`,
      kind: "diagnosed",
      phase: "diagnosed",
      data: { round, cause, action: action?.kind ?? null },
    });
    return { cause, basis: "probe_and_runbook", action };
  }

  /** Waits for the service to be healthy, twice in a row. Safe to repeat: it only looks. */
  async function verify(
    { finding, ticket_id, round }: TicketStep,
  ): Promise<{ healthy: boolean; code: string }> {
    const service = await serviceOf(store.knex, finding);
    const { healthy, code } = service?.check
      ? await settle(service.check)
      : { healthy: false, code: "no_check" };
    await addTicketEvent(store.knex, ticket_id, {
      key: `verified-${round}`,
      kind: healthy ? "verified" : "verification_failed",
      phase: healthy ? "verified" : undefined,
      data: { round, code },
    });
    return { healthy, code };
  }

  return { detect, openTicket, diagnose, verify };
}

async function settle(check: Parameters<typeof probe>[0]) {
  const deadline = Date.now() + HEALTHY_WITHIN_MS;
  let last = await probe(check);
  let before = false;
  while (!(last.healthy && before) && Date.now() < deadline) {
    before = last.healthy;
    heartbeat(last.code);
    await sleep(before ? PROBE_EVERY_MS / 4 : PROBE_EVERY_MS);
    last = await probe(check);
  }
  return last;
}

/** The one repair that a runbook of this kind lists. */
export function restartOf(service: string, restart: unknown): Action {
  const sha256 = createHash("sha256").update(canonicalize({ kind: "restart", service, restart }))
    .digest("hex");
  return { kind: "restart", service, sha256 };
}
