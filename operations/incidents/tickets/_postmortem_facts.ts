import type { NumberedObservation, Phase } from "../../../contract/domain/mod.ts";
import type { FindingRecord, Repair, Ticket } from "../../../store/incidents/mod.ts";

/** The facts that a postmortem is written from. */
export interface PostmortemFacts {
  readonly ticket: Ticket;
  /** Oldest first. */
  readonly events: readonly Event[];
  /** Oldest first. */
  readonly repairs: readonly Repair[];
  /** Moves of the approvals that the incident waited for. */
  readonly moves: readonly Move[];
  /** Observations by the id of the run that made them. A diagnosis names those of its own run by their numbers. */
  readonly observations: ReadonlyMap<string, readonly NumberedObservation[]>;
  /** The detector's record of the fault; undefined: there is none, or it is of a later fault by now. */
  readonly finding: Pick<FindingRecord, "detector" | "first_seen_at"> | undefined;
  /** Incidents of the same fault that were opened before. */
  readonly earlier: { readonly count: number; readonly last_opened_at: string | null };
  /** How often sweeps found the fault again while the loop worked on it, ≥ 0. */
  readonly foundAgain: number;
  /** Services that need the one of the incident, as the service graph is now; undefined: it does not have that one. */
  readonly dependants: readonly string[] | undefined;
  /** Null: it is not sealed yet. */
  readonly receipt: Readonly<Record<string, unknown>> | null;
  /** Public address of the ledger, without a slash at the end. */
  readonly ledgerUrl: string;
}

/** An event of the timeline. */
export interface Event {
  /** ISO 8601. */
  readonly at: string;
  readonly kind: string;
  /** The step of the loop that the ticket reached by it. */
  readonly phase?: Phase | null;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A move of an approval. Its key and principal are null where a timeout made it. */
export interface Move {
  readonly receipt_id: string;
  /** Status of the approval after it. */
  readonly status: string;
  readonly key_id: string | null;
  readonly principal: string | null;
}

/** A diagnosis as its event has it. */
export interface DiagnosisEvent {
  readonly at: string;
  readonly round: number;
  /** Code of the failed check. */
  readonly symptom: string;
  /** Null: none was named. */
  readonly cause: string | null;
  readonly data: Event["data"];
  /** Observations of its run. */
  readonly observations: readonly NumberedObservation[];
}

/** Returns the diagnoses, oldest first. */
export function readDiagnoses({ events, observations }: PostmortemFacts): DiagnosisEvent[] {
  let run = "";
  return events.flatMap(({ at, kind, data }) => {
    if (typeof data.run_id === "string") run = data.run_id;
    if (kind !== "diagnosed") return [];
    const { round = 1, symptom, cause } = data;
    return [{
      at,
      round: Number(round),
      symptom: String(symptom ?? "unknown"),
      cause: typeof cause === "string" ? cause : null,
      data,
      observations: observations.get(run) ?? [],
    }];
  });
}

/** Returns the move of an approval that an event reports; undefined: it reports none. */
export function moveOf({ receipt_id }: Event["data"], moves: readonly Move[]): Move | undefined {
  return moves.find((one) => one.receipt_id === receipt_id);
}

/** Returns who made a move; undefined: nobody did. */
export function moverOf(move: Move | undefined): string | undefined {
  return move?.key_id ? `${move.principal ?? "somebody"}, key ${move.key_id}` : undefined;
}
