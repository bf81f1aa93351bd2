/** Sentences of a postmortem about what was done and what is left to do, each with a record that says so, and one that does not. */
import type { Pair } from "../../../_sentences.ts";
import { AT, diagnosed, event, type IncidentRecord, look, OPEN, repair, step } from "./_facts.ts";

type Repair = Parameters<typeof repair>[0];

const NOTHING: IncidentRecord = {};
const did = (fields: Repair = {}): IncidentRecord => ({ repairs: [repair(fields)] });
const undone = (...states: ("done" | "not_done")[]): IncidentRecord =>
  did({ steps: [step(), ...states.map((state) => step(state, "x", true))] });
const voted = (status: string): IncidentRecord => ({
  events: [event("approval_approved", { approval_id: "APR-1", receipt_id: "r" })],
  moves: [{ receipt_id: "r", status, key_id: "k", principal: "ann" }],
});
const ruled = (passed: boolean, exceeds: readonly string[] = []): IncidentRecord => ({
  events: [event("permitted", {
    decision: "allow",
    policy_version: "1",
    rails: [{ rail: "input_safety", passed, reasons: [] }],
    exceeds,
  })],
});

/** Pairs about what was done. */
export const ACTS: readonly Pair<IncidentRecord>[] = [
  ["The platform tried no repair.", NOTHING, did()],
  ["- Runbook … on …: … ………", did(), NOTHING],
  ["- rails: **…**, …, policy ……", ruled(true), NOTHING],
  ["… of … passed", ruled(false), NOTHING],
  ["- beyond its bound: …", ruled(true, ["at most 3 a day"]), ruled(true)],
  ["one of several votes for approval", voted("pending"), voted("approved")],
  ["by **…**", voted("approved"), {
    events: [event("approval_expired", { approval_id: "APR-1" })],
  }],
  ["…, key …", voted("approved"), { events: [event("approval_expired", { receipt_id: "r" })] }],
  [
    "its intent is sealed, and its end is not on record.",
    did({ state: "intended", verified: null }),
    did(),
  ],
  ["**nobody can tell what it did**.", did({ state: "unknown" }), did({ state: "not_done" })],
  ["it **changed nothing**.", did({ steps: [step("not_done")] }), did()],
  [
    "it noted or waited, and **changed nothing**.",
    did({ steps: [step("done", "joined")] }),
    did({ steps: [step("not_done")] }),
  ],
  [
    "it was carried out, but the check of its own step … **failed**.",
    did({ steps: [step("done", "not_verified_down")] }),
    did(),
  ],
  [
    "it was carried out **in part**: … of …",
    did({ state: "not_done", steps: [step(), step("not_done")] }),
    did({ steps: [step(), step()] }),
  ],
  ["it was carried out.", did(), did({ steps: [step("done", "not_verified_down")] })],
  ["Whether it helped was not checked.", did({ verified: null }), did({ verified: false })],
  [
    "The check still failed afterwards: **it did not help**.",
    did({ verified: false }),
    did({ state: "not_done", verified: null, steps: [step("not_done")] }),
  ],
  ["The check **passed** afterwards.", did(), did({ verified: false })],
  [
    "The check passed afterwards, though it had changed nothing.",
    did({ steps: [step("not_done")] }),
    did(),
  ],
  ["undo of", undone("done"), did()],
  ["What could be undone of it was undone.", undone("done"), undone("done", "not_done")],
  ["Of the … to undo, … … undone.", undone("done", "not_done"), undone("done")],
];

const open = (ticket: IncidentRecord["ticket"] = {}, reason?: string): IncidentRecord => ({
  ticket: { ...OPEN, ...ticket },
  events: reason ? [event("escalated", { reason })] : [],
});
const escalated = (reason: string) => open({ escalated: true }, reason);
const named = (more: object = {}): IncidentRecord => ({
  events: diagnosed({ cause: "disk_full", ...more }),
});
const PASSED_OVER = { passed_over: [{ runbook: "clean", code: "parameter_missing" }] };

/** Pairs about what is left to do. */
export const NEXT: readonly Pair<IncidentRecord>[] = [
  [
    "It was a drill on a service of the platform's own. Nothing is left to do.",
    { ticket: { service: "test-0a1b2c3d" } },
    { ticket: { service: "test-0a1b2c3d", ...OPEN } },
  ],
  [
    "Find out what its … incidents have in common: the same fault has come back.",
    { earlier: { count: 1, last_opened_at: AT } },
    NOTHING,
  ],
  ["Nothing more follows from the record alone.", NOTHING, open()],
  [
    "Decide about approval …: the repair waits for it.",
    open({ approval_id: "APR-1" }),
    open({ escalated: true }),
  ],
  [
    "**…** has taken it: close the ticket with what was found, or hand it back to the platform.",
    open({ taken_by: "ann" }, "taken"),
    open({}, "taken"),
  ],
  [
    "Let the platform go on: its run has not ended.",
    open(),
    open({ escalated: true }, "not_healed"),
  ],
  [
    "The platform asks them again by itself until they answer, and then goes on; a person may act before.",
    escalated("guardrails_away"),
    escalated("refused_by_guardrails"),
  ],
  [
    "A person has to act now. Where runbooks, the service's entry or the policy are changed, the next sweep tries again; … does so at once.",
    escalated("no_runbook"),
    escalated("unknown_effect"),
  ],
  [
    "A person has to act now. When something was changed, a loop tries again: …",
    escalated("unknown_effect"),
    escalated("no_runbook"),
  ],
  [
    "Look what runbook … did on … before anything is repeated: nobody can tell.",
    did({ state: "unknown", verified: null }),
    did({ state: "not_done", verified: null }),
  ],
  [
    "Find out why runbook … did not help, before it is used again for this fault.",
    did({ verified: false }),
    did({ state: "not_done", verified: false }),
  ],
  [
    "Find the cause: the diagnoses name only the symptom …",
    { events: diagnosed() },
    named(),
  ],
  [
    "Look whether … is mended for good: the passing check shows only that the symptom is over.",
    { ...named(), ...did() },
    { ...named(), ...did({ verified: false }) },
  ],
  [
    "Let the platform look where it could not: …",
    { events: diagnosed(), seen: [look({ code: "not_had" })] },
    { ...named(), seen: [look({ code: "not_had" })] },
  ],
  [
    "Set the value that runbook … needs, if it should be used for such a fault.",
    named(PASSED_OVER),
    { ...named(PASSED_OVER), ...did() },
  ],
];

const sealed: IncidentRecord = { ticket: { receipt_id: "r" } };

/** Pairs about the receipts. */
export const RECEIPTS: readonly Pair<IncidentRecord>[] = [
  ["None yet.", NOTHING, sealed],
  ["- …: […](…/receipt/…)…", sealed, NOTHING],
  [", SHA-256 …", { ...sealed, receipt: { hash_sha256: "0" } }, sealed],
];
