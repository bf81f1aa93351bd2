/** Moments of an incident in its article, each with an event that says so, and one that says otherwise. */
import type { Pair } from "../../../_sentences.ts";
import { AT, detected, event, type TicketRecord } from "./_facts.ts";

type Data = Parameters<typeof event>[1];
type Moment = readonly [kind: string, data?: Data];

/** Returns a record with an event, and with others so that there is a list. */
const at = ([kind, data]: Moment, seconds = 1): TicketRecord => ({
  events: [
    detected(),
    event("opened"),
    event("permitted"),
    { ...event(kind, data), at: new Date(Date.parse(AT) + seconds * 1_000).toISOString() },
  ],
});

const MOMENTS: readonly (readonly [says: string, of: Moment, not: Moment])[] = [
  ["A report comes in.", ["detected", { check: "report" }], ["detected", { check: "http" }]],
  ["A new run takes the ticket over.", ["taken_over"], ["taken"]],
  ["A cause is named.", ["diagnosed", { cause: "deadlock" }], ["diagnosed", { cause: null }]],
  ["The diagnosis names no cause.", ["diagnosed"], ["diagnosed", { cause: "deadlock" }]],
  ["The guardrails refuse the repair.", ["refused"], ["approval_needed"]],
  ["People have allowed such a repair beforehand.", ["granted"], ["approval_approved"]],
  ["A person is asked.", ["approval_requested"], ["approval_needed"]],
  [
    "A person approves the repair.",
    ["approval_approved", { status: "approved" }],
    ["approval_approved", { status: "pending" }],
  ],
  [
    "A person approves the repair, and another one has to.",
    ["approval_approved", { status: "pending" }],
    ["approval_approved", { status: "approved" }],
  ],
  ["A person denies the repair.", ["approval_denied"], ["approval_expired"]],
  ["Nobody has decided in time.", ["approval_expired"], ["approval_denied"]],
  ["The intent to repair is sealed.", ["intended"], ["held"]],
  ["The repair has run.", ["remediated"], ["remediation_failed", { state: "not_done" }]],
  [
    "Nobody can tell what the repair did.",
    ["remediation_failed", { state: "unknown" }],
    ["remediation_failed", { state: "not_done" }],
  ],
  [
    "The repair has run in part.",
    ["remediation_failed", { state: "partly_done" }],
    ["remediation_failed", { state: "not_done" }],
  ],
  [
    "The repair has changed nothing.",
    ["remediation_failed", { state: "not_done" }],
    ["remediation_failed", { state: "unknown" }],
  ],
  ["The check passes.", ["verified"], ["verification_failed", { code: "timeout" }]],
  [
    "No check can tell whether it is over.",
    ["verification_failed", { code: "no_check" }],
    ["verification_failed", { code: "timeout" }],
  ],
  ["The check still fails.", ["verification_failed", { code: "timeout" }], [
    "verification_failed",
    { code: "alerts_unknown" },
  ]],
  ["There is nothing to undo.", ["undone", { code: "nothing_to_undo" }], ["undone"]],
  ["The repair is undone.", ["undone"], ["undone", { code: "nothing_to_undo" }]],
  ["People are called.", ["escalated"], ["approval_escalated"]],
  [
    "The guardrails can be asked again, and the run goes on.",
    ["guardrails_back"],
    ["escalated", { reason: "guardrails_away" }],
  ],
  [
    "The ticket is resolved, and its receipt is sealed.",
    ["resolved", { receipt_id: "r" }],
    ["resolved"],
  ],
  ["The ticket is resolved.", ["resolved"], ["resolved", { receipt_id: "r" }]],
];

const RECEIPTS: readonly (readonly [says: string, of: string, not: string])[] = [
  ["what the guardrails found", "permitted", "granted"],
  ["what the guardrails found: a person is asked", "approval_needed", "permitted"],
  ["the use of a standing grant", "granted", "approval_approved"],
  ["the question to a person", "approval_requested", "approval_needed"],
  ["the approval", "approval_approved", "approval_denied"],
  ["the call for people", "escalated", "resolved"],
  ["the end of the incident", "resolved", "escalated"],
];
const sealed = (kind: string) => at([kind, { receipt_id: "r" }]);

/** Pairs about moments, and about what receipts are of. */
export const MOMENTS_OF_TICKETS: readonly Pair<TicketRecord>[] = [
  ...MOMENTS.map(([says, of, not]): Pair<TicketRecord> => [says, at(of), at(not)]),
  ...RECEIPTS.map(([says, of, not]): Pair<TicketRecord> => [says, sealed(of), sealed(not)]),
  ["A check finds the fault.", at(["opened"]), {
    events: [detected("x", "report"), event("opened"), event("permitted")],
  }],
  ["The ticket is opened.", at(["permitted"]), {
    events: [detected(), event("taken_over"), event("permitted")],
  }],
  ["The guardrails have nothing against the repair.", at(["permitted"]), {
    events: [detected(), event("opened"), event("refused")],
  }],
  ["Second by second", at(["verified"]), at(["verified"], 600)],
  ["Step by step", at(["verified"], 600), at(["verified"])],
];
