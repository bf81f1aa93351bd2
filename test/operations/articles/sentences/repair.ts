/** Sentences of articles about what was done, each with a record that says so, and one that says otherwise. */
import type { Pair } from "../../../_sentences.ts";
import {
  BLIND,
  detected,
  event,
  FAILED,
  PASSED,
  SEALED,
  type TicketRecord,
  tried,
  verdict,
} from "./_facts.ts";

type Events = NonNullable<TicketRecord["events"]>;

const having = (...events: Events): TicketRecord => ({ events: [detected(), ...events] });
const repaired = (...before: Events): TicketRecord => ({
  ticket: SEALED,
  ...having(...before, tried(), PASSED),
});
const withSteps = (state: string): TicketRecord => ({
  ticket: SEALED,
  ...having(
    tried({ steps: [{ step: "restart", state: "done" }, { step: "wait", state }] }),
    PASSED,
  ),
  runbook: {
    steps: [
      { step: "restart", does: "Restarts it.", never: [] },
      { step: "wait", does: "Waits for it.", never: [] },
      ...state === "none" ? [{ step: "last", does: "Looks at it.", never: [] }] : [],
    ],
  },
});
const passedOver = (...runbooks: string[]) =>
  repaired(event("diagnosed", {
    passed_over: runbooks.map((runbook) => ({ runbook, code: "parameter_missing" })),
  }));
const closed = (...events: Events): TicketRecord => ({
  ...having(...events),
  ticket: { resolution: "We moved the dumps." },
});
const BY_PERSON = event("resolved", { by: "person" });
const escalated = (reason?: string) => event("escalated", reason ? { reason } : {});
const approval = (status = "approved") => event("approval_approved", { status });
const GRANTED = event("granted", { action_id: "a" });
const ASKED = event("approval_requested");

/** Pairs about what was tried, and about the repair. */
export const REPAIR: readonly Pair<TicketRecord>[] = [
  ["What was tried", having(tried(), FAILED), repaired()],
  [
    "The runbook “…” ran …, and the check still failed afterwards.",
    having(tried(), FAILED),
    having(tried(), BLIND),
  ],
  [
    "The runbook “…” ran …, and no check told whether it helped.",
    having(tried(), BLIND),
    having(tried(), FAILED),
  ],
  [
    "The runbook “…” was begun …, and changed nothing.",
    having(tried({ state: "not_done" }), FAILED),
    having(tried(), FAILED),
  ],
  [
    "Of the runbook “…” nobody can tell what it did, …",
    having(tried({ state: "unknown" })),
    having(tried({ state: "not_done" })),
  ],
  ["How it was repaired", repaired(), having(tried(), FAILED)],
  [
    "The repair was the runbook “…”, version …. Its description:",
    repaired(),
    { ticket: SEALED, ...having(tried({ state: "not_done" }), PASSED) },
  ],
  ["It has one step, which ……", repaired(), withSteps("done")],
  [
    "After it, the check that had failed was made again, and it passed.",
    repaired(),
    having(tried(), BLIND),
  ],
  [
    "The runbook also says what the repair must never do:",
    { ...repaired(), runbook: { steps: [{ step: "restart", does: "x", never: ["Deletes."] }] } },
    repaired(),
  ],
  ["This step changed nothing.", withSteps("not_done"), withSteps("done")],
  ["Nobody can tell whether this step was done.", withSteps("unknown"), withSteps("not_done")],
  ["This step was not begun.", withSteps("none"), withSteps("unknown")],
  [
    "Another runbook fitted as well, …, and was passed over: it needs a value that is not set, or not as it must be.",
    passedOver("clean"),
    passedOver(),
  ],
  [
    "Other runbooks fitted as well, …, and were passed over: each needs a value that is not set, or not as it must be.",
    passedOver("clean", "move"),
    passedOver("clean"),
  ],
];

/** Pairs about who allowed it. */
export const PERMISSION: readonly Pair<TicketRecord>[] = [
  [
    "Before anything was done, guardrails checked …",
    having(verdict("allow")),
    having(event("permitted", { decision: "allow", rails: [] })),
  ],
  ["All … of them agreed.", having(verdict("allow")), having(verdict("deny", false))],
  ["Of the … rails, … agreed.", having(verdict("deny", false)), having(verdict("allow"))],
  ["The objection was this: …", having(verdict("deny", false)), having(verdict("allow"))],
  ["Why it was allowed", having(verdict("allow")), having(verdict("deny"))],
  [
    "What the guardrails decided",
    having(verdict("needs_approval"), approval("pending")),
    having(verdict("needs_approval"), approval()),
  ],
  [
    "The consent of a person was needed, and none is on record.",
    having(verdict("needs_approval"), approval("pending")),
    having(verdict("needs_approval"), approval()),
  ],
  [
    "A standing grant of people allowed it without asking.",
    having(verdict("needs_approval"), GRANTED),
    having(verdict("needs_approval"), approval()),
  ],
  [
    "A person approved exactly this action…",
    having(verdict("needs_approval"), approval()),
    having(verdict("needs_approval"), approval("pending")),
  ],
  [
    "after …",
    { ...having(verdict("needs_approval"), ASKED, approval()), ticket: { resolved_at: null } },
    { ...having(verdict("needs_approval"), approval()), ticket: { resolved_at: null } },
  ],
  [
    "A person denied it…",
    having(verdict("needs_approval"), event("approval_denied")),
    having(verdict("needs_approval"), event("approval_expired")),
  ],
  [
    "Nobody decided about it in time.",
    having(verdict("needs_approval"), event("approval_expired")),
    having(verdict("needs_approval"), event("approval_denied")),
  ],
  ["What people did", closed(BY_PERSON), closed(event("resolved"))],
  ["How it was closed", closed(event("resolved")), closed(BY_PERSON)],
  ["People were called.", closed(escalated()), closed()],
  [
    "No runbook fitted, so people were called.",
    closed(escalated("no_runbook")),
    closed(escalated("not_healed")),
  ],
  [
    "No runbook had helped, so people were called.",
    closed(escalated("not_healed")),
    closed(escalated("not_done")),
  ],
  [
    "No repair could be carried out, so people were called.",
    closed(escalated("not_done")),
    closed(escalated("not_healed")),
  ],
];

/** Pairs about the repair, as it is told from outside. */
export const END: readonly Pair<TicketRecord>[] = [
  [", repaired after approval", repaired(verdict("needs_approval"), approval()), repaired()],
  [", healed in …", repaired(), repaired(verdict("needs_approval"), approval())],
  [", over without a repair", { ticket: SEALED, ...having(PASSED) }, repaired()],
  [": what people did", closed(BY_PERSON), closed()],
  [": how it ended", closed(), closed(BY_PERSON)],
  ["how it was repaired", repaired(), { ticket: SEALED, ...having(PASSED) }],
  ["how it ended", { ticket: SEALED, ...having(PASSED) }, repaired()],
  ["what people did about it", closed(BY_PERSON), closed()],
  ["how it was closed", closed(), repaired()],
  [
    "A person agreed to the repair, and … its check passed again.",
    repaired(verdict("needs_approval"), approval()),
    repaired(verdict("needs_approval"), GRANTED, approval()),
  ],
  [
    "The platform repaired it: …, its check passed again.",
    repaired(event("acknowledged")),
    repaired(),
  ],
  [
    "The platform repaired it without a person: …, its check passed again.",
    repaired(),
    repaired(verdict("needs_approval"), GRANTED),
  ],
  [
    "No repair of the platform ended it: …, its check passed again.",
    { ticket: SEALED, ...having(tried(), FAILED, PASSED) },
    repaired(),
  ],
  [
    "The platform looked again …, and the fault was gone.",
    { ...having(escalated()), ticket: { outcome: "recovered" } },
    closed(),
  ],
  ["People closed its ticket …", closed(BY_PERSON), closed()],
  ["Its ticket was closed …", closed(), closed(BY_PERSON)],
  ["… after the incident was opened", closed(), {
    ticket: { resolved_at: "2026-11-23T17:00:10.000Z" },
  }],
];
