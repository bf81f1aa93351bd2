/** Sentences of a timeline, each with an event that says so, and one that says otherwise. */
import type { Pair } from "../../../_sentences.ts";
import type { PostmortemFacts } from "../../../../operations/incidents/tickets/mod.ts";
import { event } from "./_facts.ts";

/** An event of a ticket: its kind, its data, and the move of an approval that it reports. */
export type Told = readonly [
  kind: string,
  data?: Readonly<{ [name: string]: unknown }>,
  move?: Partial<PostmortemFacts["moves"][number]>,
];

const stepIs = (state: string, code = "x") => ({ step: "restart", state, code });
const APPROVAL = { approval_id: "APR-1", receipt_id: "r" };
const BY_ANN = { receipt_id: "r", status: "approved", key_id: "k", principal: "ann" };

/** Returns facts that have one event. */
export function toFacts([kind, data = {}, move]: Told): Pick<PostmortemFacts, "events" | "moves"> {
  const moves = move ? [{ ...BY_ANN, ...move }] : [];
  return { events: [event(kind, data)], moves };
}

/** Pairs of sentences about events of the loop. */
export const TIMELINE: readonly Pair<Told>[] = [
  ["A report about a fault came in.", ["detected", { check: "report" }], ["detected", {
    check: "http",
  }]],
  ["The … check found ……", ["detected", { check: "http" }], ["detected", { check: "report" }]],
  [
    ", and … that it probably causes",
    ["detected", { check: "http", related: [{}] }],
    ["detected", { check: "http" }],
  ],
  ["The ticket was opened.", ["opened"], ["taken_over"]],
  [
    "A new run took the open ticket over and tried again, as …",
    ["taken_over", { because: "the runbooks have changed" }],
    ["taken_over"],
  ],
  [
    "A new run took the open ticket over, as somebody asked for it.",
    ["taken_over", { requested_by: "key:k" }],
    ["taken_over"],
  ],
  [
    "A new run took the open ticket over, as the fault was found again.",
    ["taken_over"],
    ["taken_over", { requested_by: "key:k" }],
  ],
  ["**…** acknowledged it.", ["acknowledged", { by: "ann" }], ["taken", { by: "ann" }]],
  [
    "**…** took it, so that the platform left it alone.",
    ["taken", { by: "ann" }],
    ["acknowledged", { by: "ann" }],
  ],
  ["**…** handed it back to the platform.", ["handed_back", { by: "ann" }], ["taken", {
    by: "ann",
  }]],
  [
    "Runbook … was not carried out, and was made anew: …",
    ["outdated", { runbook: "r", why: "it was edited" }],
    ["remediated", { runbook: "r" }],
  ],
  ["The guardrails allowed the repair.", ["permitted"], ["approval_needed"]],
  ["The guardrails asked for the consent of a person.", ["approval_needed"], ["permitted"]],
  ["The guardrails refused the repair.", ["refused"], ["approval_needed"]],
  [
    "The standing grant … allowed it without asking: use … of …",
    ["granted", { grant: "GRT-1", use: 1, max_uses: 5 }],
    ["approval_approved", APPROVAL],
  ],
  [
    "The intent to run step … of runbook … was sealed.",
    ["intended", { step: "restart", runbook: "r" }],
    ["held", { step: "restart", stop: "all" }],
  ],
  ["Step … was done.", ["step_done", stepIs("done")], ["step_done", stepIs("not_done")]],
  [
    "Step … ended well and changed nothing.",
    ["step_done", stepIs("not_done")],
    ["step_done", stepIs("done")],
  ],
  [
    "Nobody can tell whether step … was done: …",
    ["step_failed", stepIs("unknown")],
    ["step_failed", stepIs("not_done")],
  ],
  [
    "Step … was done, and its own check failed: …",
    ["step_failed", stepIs("done")],
    ["step_failed", stepIs("unknown")],
  ],
  [
    "Step … was not done: …",
    ["step_failed", stepIs("not_done")],
    ["step_failed", stepIs("done")],
  ],
  [
    "Runbook … was carried out. Whether it helped was not known yet.",
    ["remediated", { runbook: "r" }],
    ["remediation_failed", { runbook: "r", state: "partly_done" }],
  ],
  [
    "Runbook … …: …",
    ["remediation_failed", { runbook: "r", state: "not_done", code: "x" }],
    ["remediated", { runbook: "r" }],
  ],
  [
    "ended, and nobody can tell what it did",
    ["remediation_failed", { state: "unknown" }],
    ["remediation_failed", { state: "not_done" }],
  ],
  [
    "was carried out in part",
    ["remediation_failed", { state: "partly_done" }],
    ["remediation_failed", { state: "not_done" }],
  ],
  [
    "changed nothing",
    ["remediation_failed", { state: "not_done" }],
    ["remediation_failed", { state: "partly_done" }],
  ],
  [
    "It printed at its end: …",
    ["remediated", { runbook: "r", printed: "no such unit" }],
    ["remediated", { runbook: "r", printed: "no such unit", steps: [{}, {}] }],
  ],
  ["The check passed.", ["verified"], ["verification_failed", { code: "timeout" }]],
  [
    "The check still failed: …",
    ["verification_failed", { code: "timeout" }],
    ["verification_failed", { code: "no_check" }],
  ],
  [
    "No check could tell whether the fault was over.",
    ["verification_failed", { code: "no_check" }],
    ["verification_failed", { code: "timeout" }],
  ],
  [
    "Those who saw the fault could not tell whether it was over.",
    ["verification_failed", { code: "alerts_unknown" }],
    ["verification_failed", { code: "no_check" }],
  ],
  [
    "The intent to undo step … was sealed.",
    ["undo_intended", { step: "restart" }],
    ["undo_held", { step: "restart", stop: "all" }],
  ],
  [
    "There was nothing to undo.",
    ["undone", { code: "nothing_to_undo" }],
    ["undone", { code: "exit_0" }],
  ],
  ["The repair was undone.", ["undone", { code: "exit_0" }], ["undone", {
    code: "nothing_to_undo",
  }]],
  [
    "Nobody can tell whether the repair was undone: …",
    ["undo_failed", { state: "unknown" }],
    ["undo_failed", { state: "not_done" }],
  ],
  [
    "The repair was not undone, or not all of it: …",
    ["undo_failed", { state: "not_done" }],
    ["undo_failed", { state: "unknown" }],
  ],
  ["Step … was held back (…).", ["held", { step: "s", stop: "all" }], ["step_done", { step: "s" }]],
  [
    "Undoing step … was held back (…).",
    ["undo_held", { step: "s", stop: "all" }],
    ["held", { step: "s", stop: "all" }],
  ],
  [
    "The guardrails could be asked again, and the platform went on.",
    ["guardrails_back"],
    ["escalated", { reason: "guardrails_away" }],
  ],
  ["Alerts about it were silenced.", ["silenced", { state: "done" }], ["silenced", {
    state: "unknown",
  }]],
  [
    "Alerts about it were to be silenced: …",
    ["silenced", { state: "unknown" }],
    ["silenced", { state: "done" }],
  ],
  [
    "The silence of the alerts was lifted.",
    ["silence_lifted", { state: "done" }],
    ["silence_lifted", { state: "not_done" }],
  ],
  [
    "The silence of the alerts was to be lifted: …",
    ["silence_lifted", { state: "not_done" }],
    ["silence_lifted", { state: "done" }],
  ],
  ["People were told: …", ["notified", { message: "It is full" }], ["opened"]],
  [
    "… The problem is …",
    ["recurs", { message: "It is the fifth within the hour", problem_id: "INC-2" }],
    ["notified", { message: "It is full" }],
  ],
  ["A receipt was put on the ticket.", ["receipt_embedded"], ["intended"]],
  ["It was escalated to people. …", ["escalated", { reason: "not_healed" }], [
    "approval_escalated",
  ]],
  ["No reason is on record", ["escalated"], ["escalated", { reason: "not_healed" }]],
  ["Its run had ended (…)", ["escalated", { status: "TERMINATED" }], ["escalated"]],
  ["The run ended (…) after the ticket had been closed…", ["run_ended", { outcome: "sealed" }], [
    "resolved",
    { outcome: "sealed" },
  ]],
  [
    "The platform closed the ticket, as the check had passed.",
    ["resolved", { outcome: "sealed" }],
    ["resolved", { outcome: "recovered" }],
  ],
  [
    "The platform closed the ticket, as the fault was gone when it was looked at again.",
    ["resolved", { outcome: "recovered" }],
    ["resolved"],
  ],
  ["A person closed the ticket.", ["resolved", { by: "person" }], ["resolved"]],
  ["The ticket was closed with a note.", ["resolved"], ["resolved", { by: "person" }]],
  [
    "Diagnosis of round …: the symptom was …; it …, and …",
    ["diagnosed", { symptom: "timeout" }],
    ["detected", { check: "http", code: "timeout" }],
  ],
  ["named the cause …", ["diagnosed", { cause: "deadlock" }], ["diagnosed", { cause: null }]],
  ["named no cause", ["diagnosed", { cause: null }], ["diagnosed", { cause: "deadlock" }]],
  ["chose the runbook …", ["diagnosed", { action: "r" }], ["diagnosed", { action: null }]],
  ["found no runbook to use", ["diagnosed", { action: null }], ["diagnosed", { action: "r" }]],
  ["by **…**", ["approval_approved", APPROVAL, {}], ["approval_expired", APPROVAL, {
    key_id: null,
  }]],
  [
    "The consent of people was asked for: approval …",
    ["approval_requested", APPROVAL],
    ["approval_reopened", APPROVAL],
  ],
  [
    "Approval … had one more vote…, and needed another.",
    ["approval_approved", APPROVAL, { status: "pending" }],
    ["approval_approved", APPROVAL, {}],
  ],
  [
    "Approval … was given…",
    ["approval_approved", APPROVAL, {}],
    ["approval_approved", APPROVAL, { status: "pending" }],
  ],
  ["Approval … was denied…", ["approval_denied", APPROVAL], ["approval_expired", APPROVAL]],
  [
    "Nobody decided about approval … in time.",
    ["approval_expired", APPROVAL],
    ["approval_denied", APPROVAL],
  ],
  [
    "Approval … ended, and what it was about was made anew: …",
    ["approval_outdated", { ...APPROVAL, why: "the runbook was edited" }],
    ["approval_expired", APPROVAL],
  ],
  [
    "Nobody had decided about approval … yet, and more people were told.",
    ["approval_escalated", APPROVAL],
    ["approval_expired", APPROVAL],
  ],
  ["Approval … was ……", ["approval_reopened", APPROVAL], ["approval_requested", APPROVAL]],
];
