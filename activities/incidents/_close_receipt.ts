import {
  type Diagnosis,
  type Finding,
  LOOP_ACTOR,
  type NumberedObservation,
  type Permission,
  type RepairEffect,
  RESTART_ASKED,
  type RunId,
  type TimelineStep,
  type UndoResult,
  type VerifyResult,
} from "../../contract/domain/mod.ts";
import type { Ticket } from "../../store/incidents/mod.ts";
import { hashOf } from "./_action.ts";
import { publicResultOf } from "./_sign_step.ts";

/** Summary of a run at its end. */
interface RunSummary {
  readonly outcome: "sealed" | "escalated";
  /**
   * Reason of an escalation: `no_runbook`, `comes_back` (healed again and again), `taken` (by a person), `flapping` (it is up, and left to people), `refused_by_guardrails`,
   * `guardrails_away`, `approval_denied`, `approval_expired`, `approval_ended` (from outside), `stopped` (for too long),
   * `unknown_effect`, `place_away` (its place has no worker), `not_healed`, `not_done` (no repair could be carried out), `not_proven` (those who saw the fault can't tell), `cancelled`, or an error's name.
   */
  readonly reason?: string;
  readonly diagnosis?: Diagnosis;
  /** Permission for the last repair that was requested. */
  readonly permission?: Permission;
  /** Effect of the last repair. */
  readonly effect?: RepairEffect;
  /** Result of the last verification. */
  readonly proof?: VerifyResult;
  /** Absent: nothing was to be undone. */
  readonly undone?: UndoResult;
  readonly rounds: number;
}

/** A run to end. */
export interface CloseOrder {
  readonly ticket_id: string;
  readonly finding: Finding;
  readonly run: RunId;
  readonly summary: RunSummary;
}

/** The receipt of a run's end. */
export type CloseReceipt = ReturnType<typeof closeReceiptOf> & { readonly id: string };

/** Controls that the receipt attests to: the incident was contained and repaired, or reported to people. */
const COMPLIANCE_TAGS = {
  sealed: ["NIST-CSF-2.0:RS.MI-02", "NIST-CSF-2.0:RC.RP-05", "SOC2:CC7.4", "SOC2:CC7.5"],
  escalated: ["NIST-CSF-2.0:RS.MA-04", "SOC2:CC7.4"],
} as const;

/**
 * Returns the receipt of a run's end. It is the same for each attempt, as the ticket's classification no longer changes
 * then; only the number of sightings may, until the ticket is closed.
 *
 * @param repeats sightings after the first
 * @param observations of the run
 * @param timeline until now: the times alone are public
 */
export function closeReceiptOf(
  { ticket_id, finding, run, summary }: CloseOrder,
  ticket: Ticket | undefined,
  repeats: number,
  observations: readonly NumberedObservation[],
  timeline: readonly TimelineStep[],
) {
  const { outcome, reason, diagnosis, permission, effect, proof, undone } = summary;
  const isUnknown = effect?.state === "unknown" || undone?.state === "unknown";
  return {
    category: outcome === "sealed" ? "self_heal" : "escalation",
    actor: LOOP_ACTOR,
    subject: ticket_id,
    action: diagnosis?.action ? "runbook" : "none",
    outcome: isUnknown ? "unknown" : outcome,
    compliance_tags: COMPLIANCE_TAGS[outcome],
    details: {
      fingerprint: finding.fingerprint,
      check: finding.check,
      ...(finding.related?.length ? { related: finding.related.map((r) => r.fingerprint) } : {}),
      ...(finding.resumes ? { resumes: publicResumption(finding.resumes) } : {}),
      ...(finding.code === RESTART_ASKED
        ? { asked: "restart", asked_by: finding.requested_by }
        : {}),
      symptom: diagnosis?.symptom ?? finding.code,
      cause: diagnosis?.cause ?? null,
      ...(ticket ? { ticket: { severity: ticket.severity, category: ticket.category } } : {}),
      rounds: summary.rounds,
      observations: observations.length,
      sightings: 1 + repeats,
      timeline,
      ...(reason ? { reason } : {}),
      ...(diagnosis ? { diagnosis: publicDiagnosis(diagnosis) } : {}),
      ...(diagnosis?.action ? { action_id: diagnosis.action.id } : {}),
      ...(permission ? { permission: publicPermission(permission) } : {}),
      ...(effect ? { effect_id: effect.id, effect: effect.state, effect_code: effect.code } : {}),
      ...(effect ? { steps: effect.steps.map(publicStep) } : {}),
      ...(proof ? { verified: proof } : {}),
      ...(undone ? { undone: { ...undone, steps: undone.steps.map(publicStep) } } : {}),
      ...run,
    },
    evidence: {
      finding,
      ...(diagnosis ? { diagnosis } : {}),
      ...(effect ? { effect } : {}),
      ...(undone ? { undone } : {}),
      observations_sha256: hashOf(observations),
    },
  };
}

/**
 * Returns the public fields of a diagnosis: its conclusion and the cited articles. A past incident is cited without its
 * hash, from which its private text could be guessed; the evidence has the hash.
 */
function publicDiagnosis({ basis, classification, citations }: Diagnosis) {
  const cited = citations.map(({ id, sha256 }) => id.startsWith("INC-") ? { id } : { id, sha256 });
  return { basis, ...classification, citations: cited };
}

function publicResumption({ action_sha256: _, ...ids }: NonNullable<Finding["resumes"]>) {
  return ids;
}

function publicPermission({ requested_by: _, ...permission }: Permission) {
  return permission;
}

/** Returns the public fields of a step's result, with the signature of its place over all others. */
function publicStep(step: RepairEffect["steps"][number]) {
  return { ...publicResultOf(step), ...step.signed };
}
