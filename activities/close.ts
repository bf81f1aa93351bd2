import type { Sealer } from "../ledger/mod.ts";
import { requestSeal, type SealRequest } from "../ledger/mod.ts";
import { addTicketEvent, endTicket, openRuns, transaction } from "../store/mod.ts";
import type { Diagnosis, Effect, Finding, RunId } from "../workflows/mod.ts";
import { type ActivityParts, ACTOR, receiptIdOf } from "./_parts.ts";

/** What a run has to tell at its end. */
export interface Story {
  readonly outcome: "sealed" | "escalated";
  readonly diagnosis?: Diagnosis;
  readonly effect?: Effect;
  /** How often the fault was found while the run went on, ≥ 1. */
  readonly sightings: number;
  readonly rounds: number;
}

/** A run whose ticket is open though the run has ended. */
export interface EndedRun extends RunId {
  readonly ticket_id: string;
  /** How Temporal says it ended: TERMINATED, TIMED_OUT, FAILED, CANCELLED, COMPLETED. */
  readonly status: string;
}

const SEALED_WITHIN_MS = 30_000;

/** What ends a run: closing, escalating, and sealing either. */
export function closing({ store, sealer, temporal }: ActivityParts) {
  /** Closes or escalates the ticket and seals the run's receipt. Safe to repeat: the run names the receipt. */
  async function closeAndSeal(
    { ticket_id, finding, run, story }: {
      ticket_id: string;
      finding: Finding;
      run: RunId;
      story: Story;
    },
  ): Promise<string> {
    const id = receiptIdOf(run, "CLOSE+SEAL");
    const { outcome, diagnosis, effect, sightings, rounds } = story;
    const resolved = outcome === "sealed";
    await transaction(store, async (trx) => {
      await endTicket(trx, ticket_id, {
        resolved,
        outcome,
        resolution: resolved ? `Restarted and verified healthy in round ${rounds}` : undefined,
        receiptId: id,
      });
      await addTicketEvent(trx, ticket_id, {
        key: "ended",
        kind: resolved ? "resolved" : "escalated",
        phase: "sealed",
        data: { receipt_id: id, outcome },
      });
      await requestSeal(trx, {
        id,
        category: resolved ? "self_heal" : "escalation",
        actor: ACTOR,
        subject: ticket_id,
        action: diagnosis?.action?.kind ?? "none",
        outcome: effect?.state === "unknown" ? "unknown" : outcome,
        details: {
          fingerprint: finding.fingerprint,
          check: finding.check,
          cause: diagnosis?.cause ?? finding.code,
          rounds,
          sightings,
          ...(effect ? { effect_id: effect.id, effect: effect.state } : {}),
          ...(diagnosis?.action ? { action_sha256: diagnosis.action.sha256 } : {}),
          ...run,
        },
        evidence: { finding, ...(diagnosis ? { diagnosis } : {}), ...(effect ? { effect } : {}) },
      });
    });
    await sealer.sealed(id, { timeoutMs: SEALED_WITHIN_MS });
    return id;
  }

  /** Seals that a run which somebody asked for found nothing. */
  async function sealClear({ finding, run }: { finding: Finding; run: RunId }): Promise<string> {
    return await sealNow(sealer, {
      id: receiptIdOf(run, "CLEAR"),
      category: "platform_health_check",
      actor: ACTOR,
      subject: finding.fingerprint || "all-services",
      action: "probe",
      outcome: "clear",
      details: { requested_by: finding.requested_by ?? "schedule", ...run },
      evidence: { finding },
    });
  }

  /** Looks for open tickets whose run has ended without closing them. */
  async function findEndedRuns(): Promise<EndedRun[]> {
    const ended: EndedRun[] = [];
    for (const { ticketId, workflowId, runId } of await openRuns(store.knex)) {
      const handle = temporal.workflow.getHandle(workflowId, runId);
      const status = await handle.describe().then((d) => d.status.name, (error) => {
        if (error?.name === "WorkflowNotFoundError") return "NOT_FOUND";
        throw error;
      });
      if (status !== "RUNNING") {
        ended.push({ ticket_id: ticketId, workflow_id: workflowId, run_id: runId, status });
      }
    }
    return ended;
  }

  /** Seals that a run was ended from outside, and leaves its ticket to people. Safe to repeat. */
  async function sealEndedRun({ ticket_id, status, ...run }: EndedRun): Promise<string> {
    const id = receiptIdOf(run, "ENDED");
    await transaction(store, async (trx) => {
      const changed = await endTicket(trx, ticket_id, {
        resolved: false,
        outcome: "escalated",
        receiptId: id,
      });
      if (!changed) return;
      await addTicketEvent(trx, ticket_id, {
        key: "ended-outside",
        kind: "escalated",
        data: { status },
      });
      await requestSeal(trx, {
        id,
        category: "escalation",
        actor: ACTOR,
        subject: ticket_id,
        action: "run.ended",
        outcome: "escalated",
        details: { status, ...run },
      });
    });
    return id;
  }

  /** Seals what a caller asked for. Safe to repeat: the request names the receipt. */
  async function sealReceipt(request: SealRequest & { id: string }) {
    await sealer.request(request);
    return await sealer.sealed(request.id, { timeoutMs: SEALED_WITHIN_MS });
  }

  return { closeAndSeal, sealClear, findEndedRuns, sealEndedRun, sealReceipt };
}

async function sealNow(sealer: Sealer, request: SealRequest & { id: string }): Promise<string> {
  await sealer.request(request);
  await sealer.sealed(request.id, { timeoutMs: SEALED_WITHIN_MS });
  return request.id;
}
