import type { NumberedObservation } from "../../../../contract/domain/mod.ts";
import type { PostmortemFacts } from "../../../../operations/incidents/tickets/mod.ts";
import type { Repair, Ticket } from "../../../../store/incidents/mod.ts";

/** Time of all that is not said to be at another one. */
export const AT = "2026-07-01T12:00:00.000Z";
/** Id of the run that the observations are of. */
const RUN = "run-1";

const TICKET: Ticket = {
  ticket_id: "INC-4f1d22a90b7c",
  title: "billing fails its http check (refused)",
  description: "",
  severity: "high",
  category: "application",
  status: "resolved",
  phase: "sealed",
  escalated: false,
  service: "billing",
  workflow_id: "loop-1",
  run_id: RUN,
  outcome: "sealed",
  resolution: "Restarted",
  receipt_id: null,
  approval_id: null,
  acknowledged_by: null,
  acknowledged_at: null,
  taken_by: null,
  taken_at: null,
  problem_id: null,
  last_good_at: null,
  opened_at: AT,
  resolved_at: "2026-07-01T12:00:01.000Z",
};
/** Fields of a ticket that is open. */
export const OPEN = {
  status: "open",
  outcome: null,
  resolution: null,
  resolved_at: null,
} as const;

type Data = Readonly<{ [name: string]: unknown }>;

/** A record of an incident: what it has besides a ticket that was resolved. */
export type IncidentRecord = Readonly<
  Partial<Omit<PostmortemFacts, "ticket" | "observations">> & {
    ticket?: Partial<Ticket>;
    /** Of the only run. */
    seen?: readonly NumberedObservation[];
  }
>;

/** Returns the facts of a record. */
export function factsOf({ ticket, seen, ...facts }: IncidentRecord): PostmortemFacts {
  return {
    ticket: { ...TICKET, ...ticket },
    events: [],
    repairs: [],
    moves: [],
    observations: new Map(seen ? [[RUN, seen]] : []),
    finding: undefined,
    earlier: { count: 0, last_opened_at: null },
    foundAgain: 0,
    dependants: undefined,
    receipt: null,
    ledgerUrl: "http://ledger.example",
    ...facts,
  };
}

/** Returns an event. */
export const event = (kind: string, data: Data = {}) => ({ at: AT, kind, data });

/** Returns a diagnosis by the only run, with the event before it that names the run. */
export function diagnosed(data: Data = {}) {
  const diagnosis = { round: 1, symptom: "status_500", cause: null, action: null, ...data };
  return [event("opened", { run_id: RUN }), event("diagnosed", diagnosis)];
}

/** Returns a repair of one step, which was done and helped. */
export const repair = (fields: Partial<Repair> = {}): Repair => ({
  id: "a",
  ticket_id: TICKET.ticket_id,
  service: "billing",
  runbook: "restart-service",
  action_sha256: "0",
  state: "done",
  verified: true,
  undone: false,
  steps: [step()],
  intended_at: AT,
  ended_at: AT,
  ...fields,
});

/** Returns a step of a repair. */
export const step = (
  state: "done" | "not_done" | "unknown" = "done",
  code = "restarted",
  undoes = false,
) => ({ step: "restart", state, code, undoes });

/** Returns an observation. */
export const look = (fields: Partial<NumberedObservation> = {}): NumberedObservation => ({
  number: 1,
  round: 1,
  source: "check",
  code: "answer",
  says: "It answers 500.",
  ...fields,
});
