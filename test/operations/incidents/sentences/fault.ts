/** Sentences of a postmortem about the fault, each with a record that says so, and one that says otherwise. */
import type { Pair } from "../../../_sentences.ts";
import { AT, diagnosed, event, type IncidentRecord, look, OPEN, repair, step } from "./_facts.ts";

const LATER = "2026-07-01T12:00:30.000Z";
const EARLIER = "2026-07-01T11:59:00.000Z";
const NOTHING: IncidentRecord = {};
const NAMED = { cause: "disk_full", observations: [2, 5] };
const says = (...data: Parameters<typeof diagnosed>): IncidentRecord => ({
  events: diagnosed(...data),
});
const other = (because: string): IncidentRecord =>
  says({ ...NAMED, alternatives: [{ cause: "deadlock", observations: [3], because }] });
const classified = (basis: string, more: Parameters<typeof diagnosed>[0] = {}): IncidentRecord =>
  says({ basis, classification: { category: "dns", confidence: 0.9 }, ...more });
const detected = (data: Parameters<typeof event>[1] = {}): IncidentRecord => ({
  events: [event("detected", { check: "http", code: "refused", observed_at: AT, ...data })],
});
const found = (last_good_at: string | null): IncidentRecord => ({
  finding: { detector: "services", first_seen_at: AT },
  ticket: { last_good_at },
});
const changes = (code: string, text?: string): IncidentRecord => ({
  ...says(),
  seen: [look({ source: "changes", code, ...(text ? { text } : {}) })],
});
const twice = (
  first: Parameters<typeof diagnosed>[0],
  second: Parameters<typeof diagnosed>[0],
): IncidentRecord => ({
  events: [...diagnosed(first), ...diagnosed({ round: 2, ...second })],
});

/** Pairs about the cause. */
export const CAUSE: readonly Pair<IncidentRecord>[] = [
  ["Nothing was diagnosed.", NOTHING, says()],
  ["The symptom is …", says(), NOTHING],
  ["The cause is not known. …", says(), says(NAMED)],
  [
    "…The diagnosis of round … named the cause ……, …. …",
    says(NAMED),
    says({ cause_says: "The cause is not known." }),
  ],
  ["with a confidence of …", says({ ...NAMED, cause_confidence: 0.9 }), says(NAMED)],
  ["by the code of the check alone", says({ ...NAMED, observations: [] }), says(NAMED)],
  ["by observation …", says({ ...NAMED, observations: [2] }), says(NAMED)],
  ["by observations …", says(NAMED), says({ ...NAMED, observations: [2] })],
  ["named …, …", twice(NAMED, { cause: "deadlock" }), twice({}, {})],
  ["named no cause", twice(NAMED, {}), says(NAMED)],
  ["The diagnosis at … (round …) …. Its symptom was …", twice({}, {}), says()],
  ["Ruled out:", other("it computes"), other("less speaks for it")],
  ["Considered, and left open:", other("less speaks for it"), other("it computes")],
  [
    "The model … put what nothing rules out in this order, which decided nothing:",
    says({
      ...NAMED,
      hypotheses: { written_by: "m", hypotheses: [{ cause: "deadlock", text: "x", evidence: [] }] },
    }),
    says({ ...NAMED, hypotheses: { written_by: "m", hypotheses: [], dropped: ["x"] } }),
  ],
  ["What was measured: …", says({ says: "Nothing listens." }), says()],
  ["Its kind, by the cause", classified("observed"), classified("words")],
  ["Its kind, by what was measured", classified("measured"), classified("words")],
  ["Its kind, by its words", classified("words"), classified("measured")],
  ["Its kind", classified("another"), says()],
  [
    "Its words alone: …",
    classified("measured", { reading: { category: "dns", confidence: 0.2 } }),
    classified("words", { reading: { category: "dns", confidence: 0.2 } }),
  ],
  ["… with a confidence of …", classified("words"), says({ classification: { category: "dns" } })],
  ["Citations: …", says({ citations: ["a"] }), says({ citations: [] })],
];

/** Pairs about what was looked at, and what had changed. */
export const LOOKS: readonly Pair<IncidentRecord>[] = [
  ["Nothing that was looked at is on record.", says(), { ...says(), seen: [look()] }],
  ["- Observation …, … in round …: …", { ...says(), seen: [look()] }, says()],
  [
    "could not be looked at (…).",
    { ...says(), seen: [look({ code: "not_had", figures: { reason: "permission" } })] },
    { ...says(), seen: [look()] },
  ],
  [
    "- and … more",
    { ...says(), seen: Array.from({ length: 101 }, (_, n) => look({ number: n + 1 })) },
    { ...says(), seen: [look()] },
  ],
  ["- … (Observation …)", changes("files", "etc/billing.yaml"), changes("not_had")],
  ["The platform could not look for changes.", changes("not_had"), changes("files")],
  [
    "No change before it is on record. That does not show that nothing was changed.",
    says(),
    changes("files"),
  ],
  [
    "The same fault had … before, the last one opened at …",
    { earlier: { count: 2, last_opened_at: EARLIER } },
    NOTHING,
  ],
  ["No earlier incident of the same fault is on record.", NOTHING, {
    earlier: { count: 1, last_opened_at: EARLIER },
  }],
  [
    "No detector found it, so that it can't be compared with earlier faults.",
    { ticket: { workflow_id: null } },
    NOTHING,
  ],
];

/** Pairs about when it was seen, what it affected, and how it ended. */
export const SUMMARY: readonly Pair<IncidentRecord>[] = [
  ["not yet", { ticket: OPEN }, NOTHING],
  ["still open", { ticket: OPEN }, NOTHING],
  ["Last in order", found(EARLIER), found(null)],
  ["Time to restore", found(EARLIER), found(null)],
  ["… from the last check that passed", found(EARLIER), found(null)],
  ["… from the ticket", NOTHING, { ticket: OPEN }],
  [
    "open: a repair waits for people to decide",
    { ticket: { ...OPEN, approval_id: "APR-1" } },
    { ticket: { ...OPEN, escalated: true } },
  ],
  ["open: it waits for people", { ticket: { ...OPEN, escalated: true } }, { ticket: OPEN }],
  [
    "repaired by the platform, and its check passed",
    { repairs: [repair()] },
    { repairs: [repair({ steps: [step("not_done")] })] },
  ],
  [
    "its check passed, without a repair just before",
    { repairs: [repair({ verified: false })] },
    { repairs: [repair()] },
  ],
  [
    "closed by the platform, as the fault was gone",
    { ticket: { outcome: "recovered" } },
    { ticket: { outcome: "resolved" } },
  ],
  [
    "closed by a person",
    { ticket: { outcome: "resolved" }, events: [event("resolved", { by: "person" })] },
    { ticket: { outcome: "resolved" }, events: [event("resolved")] },
  ],
  [
    "closed with a note",
    { ticket: { outcome: "resolved" }, events: [event("resolved")] },
    { ticket: { outcome: "recovered" } },
  ],
  ["yes: …", { events: [event("escalated")] }, { events: [event("approval_escalated")] }],
  ["Escalated to people | yes", { ticket: { escalated: true } }, NOTHING],
  ["Escalated to people | no", NOTHING, { events: [event("escalated")] }],
  [
    "When the fault began is not on record: no detector found it.",
    NOTHING,
    detected({ observed_at: undefined }),
  ],
  [
    "When the fault began, or was first seen, is not on record.",
    detected({ observed_at: undefined }),
    detected(),
  ],
  ["the ticket was opened … later", detected(), NOTHING],
  [
    "The fault was reported at …, and …. When it began is not on record.",
    detected({ check: "report" }),
    detected(),
  ],
  ["The fault was first seen at ……, and …. …", detected(), detected({ check: "report" })],
  ["by the detector …", found(null), detected()],
  [
    "The check passed last at …, so that the fault went unseen for at most …",
    found(EARLIER),
    found(LATER),
  ],
  [
    "It may have begun before: when it was last seen in order is not on record.",
    found(null),
    found(LATER),
  ],
  ["The check passed once more at …", found(LATER), found(EARLIER)],
  [
    "No other finding was put to this incident.",
    detected(),
    detected({ related: [{ service: "shop", code: "timeout", fingerprint: "f" }] }),
  ],
  [
    "… … put to this incident: …",
    detected({ related: [{ service: "shop", code: "timeout", fingerprint: "f" }] }),
    detected({ related: [] }),
  ],
  [
    "… more",
    { dependants: Array.from({ length: 21 }, (_, n) => `till-${n}`) },
    { dependants: ["till"], ticket: OPEN },
  ],
  ["Sweeps found the fault again … while the loop worked on it.", { foundAgain: 2 }, {
    foundAgain: 0,
  }],
  ["The service graph knows nothing that needs …", { dependants: [] }, { dependants: ["till"] }],
  [
    "By the service graph as it is now, … is needed by …; whether they suffered is not said by that.",
    { dependants: ["till"] },
    { dependants: [] },
  ],
];
