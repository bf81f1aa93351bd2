import type {
  Diagnosis,
  Finding,
  Permission,
  RepairEffect,
  RunId,
  UndoResult,
  VerifyResult,
} from "../domain/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import {
  abandonEffects,
  addTicketEvent,
  escalateTicket,
  getRepeatSightings,
  getTicket,
  getTicketEvent,
  resolveTicket,
  type Ticket,
  type TicketEvent,
} from "../store/mod.ts";
import { LOOP_ACTOR } from "../domain/mod.ts";
import { receiptIdOf } from "../calls/mod.ts";
import type { ActivityParts } from "./_parts.ts";
import { SEALED_WITHIN_MS } from "./seal.ts";

/** What a run has to tell at its end. */
export interface Story {
  readonly outcome: "sealed" | "escalated";
  /**
   * Why it is left to people: `no_runbook`, `refused_by_guardrails`, `guardrails_away`, `approval_denied`,
   * `approval_expired`, `approval_ended` (from outside), `stopped` (by a switch, for too long), `unknown_effect`,
   * `not_healed`, `cancelled`, or an error's name.
   */
  readonly reason?: string;
  readonly diagnosis?: Diagnosis;
  /** Of the last repair that was asked for. */
  readonly permission?: Permission;
  /** The last act. */
  readonly effect?: RepairEffect;
  /** What was seen after it. */
  readonly proof?: VerifyResult;
  /** What became of undoing it; absent: that was not begun. */
  readonly undone?: UndoResult;
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
   * Closes or escalates the ticket and seals the run's receipt, all or nothing of it; then waits until it is part of the
   * chain. Safe to repeat: the run names the receipt, and a ticket that is closed stays as it is.
   */
  async function closeAndSeal(ending: Ending): Promise<string> {
    const { run, story } = ending;
    const receiptId = receiptIdOf(run, "CLOSE+SEAL");
    const [ticket, foundAgain] = await Promise.all([
      getTicket(store.asPlatform(), ending.ticket_id),
      getRepeatSightings(store.asPlatform(), ending.ticket_id),
    ]);
    const request = { id: receiptId, ...receiptOf(ending, ticket, foundAgain) };
    try {
      if (story.outcome !== "sealed" || !await resolve(ending, request)) {
        await endOtherwise(ending, request);
      }
    } catch (error) { // an earlier attempt has ended it, and a sweep found it once more in between
      if (!await getTicketEvent(store.asPlatform(), ending.ticket_id, endedKey(run))) throw error;
    }
    await sealer.sealed(receiptId, { timeoutMs: SEALED_WITHIN_MS });
    return receiptId;
  }

  /** @returns whether the ticket was open */
  async function resolve(ending: Ending, request: Sealing): Promise<boolean> {
    const { ticket_id, story } = ending;
    const receiptId = request.id;
    const end = { outcome: story.outcome, resolution: resolutionOf(story), receiptId };
    return await store.asPlatform().transaction(async (trx) => {
      if (!await resolveTicket(trx, ticket_id, end)) return false;
      await addTicketEvent(trx, ticket_id, eventOf(ending, receiptId, "resolved"));
      await requestSeal(trx, request);
      return true;
    });
  }

  /** Leaves the ticket to people, or as it is where somebody has closed it, or an earlier attempt has. */
  async function endOtherwise(ending: Ending, request: Sealing): Promise<void> {
    const { ticket_id, story: { outcome } } = ending;
    const receiptId = request.id;
    await store.asPlatform().transaction(async (trx) => {
      const escalated = outcome === "escalated" &&
        await escalateTicket(trx, ticket_id, receiptId);
      if (outcome === "escalated") await abandonEffects(trx, ticket_id);
      const event = eventOf(ending, receiptId, escalated ? "escalated" : "run_ended");
      await addTicketEvent(trx, ticket_id, event);
      await requestSeal(trx, request);
    });
  }

  return { closeAndSeal };
}

const endedKey = ({ run_id }: RunId) => `${run_id}/ended`;

function eventOf(
  { run, story: { outcome, reason } }: Ending,
  receiptId: string,
  kind: "resolved" | "escalated" | "run_ended",
): TicketEvent {
  return {
    key: endedKey(run),
    kind,
    phase: kind === "run_ended" ? undefined : "sealed",
    data: { receipt_id: receiptId, outcome, ...(reason ? { reason } : {}) },
  };
}

/** Controls that a receipt attests to: that an incident was contained and mended, or told to those who have to. */
const TAGS = {
  sealed: ["NIST-CSF-2.0:RS.MI-02", "NIST-CSF-2.0:RC.RP-05", "SOC2:CC7.4", "SOC2:CC7.5"],
  escalated: ["NIST-CSF-2.0:RS.MA-04", "SOC2:CC7.4"],
} as const;

type Sealing = ReturnType<typeof receiptOf> & { readonly id: string };

/**
 * The same for the same ending, so that a repeated step asks for the same receipt: once its run is at its end, what a
 * ticket is said to be does not change any more. How often it was found may, until the ticket is ended.
 */
function receiptOf(
  { ticket_id, finding, run, story }: Ending,
  ticket: Ticket | undefined,
  foundAgain: number,
) {
  const { outcome, reason, diagnosis, permission, effect, proof, undone } = story;
  const isUnknown = effect?.state === "unknown" || undone?.state === "unknown";
  return {
    category: outcome === "sealed" ? "self_heal" : "escalation",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: diagnosis?.action ? "runbook" : "none",
    outcome: isUnknown ? "unknown" : outcome,
    compliance_tags: TAGS[outcome],
    details: {
      fingerprint: finding.fingerprint,
      check: finding.check,
      ...(finding.related?.length ? { related: finding.related.map((r) => r.fingerprint) } : {}),
      ...(finding.resumes ? { resumes: finding.resumes } : {}),
      cause: diagnosis?.cause ?? finding.code,
      ...(ticket ? { ticket: { severity: ticket.severity, category: ticket.category } } : {}),
      rounds: story.rounds,
      sightings: 1 + foundAgain,
      ...(reason ? { reason } : {}),
      ...(diagnosis ? { diagnosis: publicDiagnosis(diagnosis) } : {}),
      ...(diagnosis?.action ? { action_sha256: diagnosis.action.sha256 } : {}),
      ...(permission ? { permission: publicPermission(permission) } : {}),
      ...(effect ? { effect_id: effect.id, effect: effect.state, effect_code: effect.code } : {}),
      ...(effect ? { steps: effect.steps.map(publicStep) } : {}),
      ...(proof ? { verified: proof } : {}),
      ...(undone ? { undone: { ...undone, steps: undone.steps.map(publicStep) } } : {}),
      ...run,
    },
    evidence: {
      ...{ finding },
      ...(diagnosis ? { diagnosis } : {}),
      ...(effect ? { effect } : {}),
      ...(undone ? { undone } : {}),
    },
  };
}

function resolutionOf({ diagnosis, effect, rounds }: Story): string {
  const { runbook, version } = diagnosis?.action ?? {};
  return effect
    ? `Runbook ${runbook} ${version}, and found healthy in round ${rounds}`
    : "Found healthy before anything was done";
}

/**
 * What of a diagnosis everybody may read for ever: what was concluded, and from which articles. The text of a past
 * incident is private, and could be guessed from its hash; the evidence has that.
 */
function publicDiagnosis({ basis, classification, citations }: Diagnosis) {
  const cited = citations.map(({ id, sha256 }) => id.startsWith("INC-") ? { id } : { id, sha256 });
  return { basis, ...classification, citations: cited };
}

function publicPermission({ requested_by: _, ...permission }: Permission) {
  return permission;
}

/** What of a step everybody may read for ever. */
function publicStep({ id, kind, state, code, counts }: RepairEffect["steps"][number]) {
  return { effect_id: id, kind, state, code, ...(counts ? { counts } : {}) };
}
