import { requestSeal } from "../ledger/mod.ts";
import { abandonEffects, addTicketEvent, endTicket, transaction } from "../store/mod.ts";
import type { Diagnosis, Effect, Finding, RunId } from "../workflows/mod.ts";
import { type ActivityParts, ACTOR, receiptIdOf } from "./_parts.ts";
import { SEALED_WITHIN_MS } from "./seal.ts";

/** What a run has to tell at its end. */
export interface Story {
  readonly outcome: "sealed" | "escalated";
  /** Why it is left to people: `no_runbook`, `unknown_effect`, `not_healed`, `cancelled`, or an error's name. */
  readonly reason?: string;
  readonly diagnosis?: Diagnosis;
  /** The last act. */
  readonly effect?: Effect;
  /** How often the fault was found while the run went on, ≥ 1. */
  readonly sightings: number;
  readonly rounds: number;
}

/** What the step takes that ends a run. */
export interface Ending {
  readonly ticket_id: string;
  readonly finding: Finding;
  readonly run: RunId;
  readonly story: Story;
}

/** The last step. */
export function closing({ store, sealer }: ActivityParts) {
  /**
   * Closes or escalates the ticket and seals the run's receipt, in one transaction; then waits until it is part of the
   * chain. Safe to repeat: the run names the receipt, and a ticket that is closed stays as it is.
   */
  async function closeAndSeal(ending: Ending): Promise<string> {
    const { ticket_id, run, story } = ending;
    const { outcome, reason } = story;
    const resolved = outcome === "sealed";
    const receiptId = receiptIdOf(run, "CLOSE+SEAL");
    await transaction(store, async (trx) => {
      const changed = await endTicket(trx, ticket_id, {
        resolved,
        outcome,
        resolution: resolved ? resolutionOf(story) : undefined,
        receiptId,
      });
      if (!resolved) await abandonEffects(trx, ticket_id);
      await addTicketEvent(trx, ticket_id, {
        key: `${run.run_id}/ended`,
        kind: !changed ? "run_ended" : resolved ? "resolved" : "escalated",
        phase: changed ? "sealed" : undefined,
        data: { receipt_id: receiptId, outcome, ...(reason ? { reason } : {}) },
      });
      await requestSeal(trx, { id: receiptId, ...receiptOf(ending) });
    });
    await sealer.sealed(receiptId, { timeoutMs: SEALED_WITHIN_MS });
    return receiptId;
  }

  return { closeAndSeal };
}

/** The same for the same ending, so that a repeated step asks for the same receipt. */
function receiptOf({ ticket_id, finding, run, story }: Ending) {
  const { outcome, reason, diagnosis, effect, sightings, rounds } = story;
  return {
    category: outcome === "sealed" ? "self_heal" : "escalation",
    actor: ACTOR,
    subject: ticket_id,
    action: diagnosis?.action ? "runbook" : "none",
    outcome: effect?.state === "unknown" ? "unknown" : outcome,
    details: {
      fingerprint: finding.fingerprint,
      check: finding.check,
      cause: diagnosis?.cause ?? finding.code,
      rounds,
      sightings,
      ...(reason ? { reason } : {}),
      ...(effect ? { effect_id: effect.id, effect: effect.state, effect_code: effect.code } : {}),
      ...(effect ? { steps: effect.steps.map(publicStep) } : {}),
      ...(diagnosis ? { basis: diagnosis.basis } : {}),
      ...(diagnosis?.action ? { action_sha256: diagnosis.action.sha256 } : {}),
      ...run,
    },
    evidence: { finding, ...(diagnosis ? { diagnosis } : {}), ...(effect ? { effect } : {}) },
  };
}

function resolutionOf({ diagnosis, rounds }: Story): string {
  const { runbook, version } = diagnosis?.action ?? {};
  return `Runbook ${runbook} ${version}, and found healthy in round ${rounds}`;
}

/** What of a step everybody may read for ever. */
function publicStep({ id, kind, state, code, counts }: Effect["steps"][number]) {
  return { effect_id: id, kind, state, code, ...(counts ? { counts } : {}) };
}
