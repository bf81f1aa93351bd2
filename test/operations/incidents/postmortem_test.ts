import assert from "node:assert/strict";
import {
  formatPostmortem,
  type PostmortemFacts,
} from "../../../operations/incidents/tickets/mod.ts";
import type { NumberedObservation } from "../../../contract/domain/mod.ts";
import type { Repair, Ticket } from "../../../store/incidents/mod.ts";

const AT = "2026-07-01T12:00:00.000Z";
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
const OPEN = { status: "open", outcome: null, resolution: null, resolved_at: null } as const;

type Data = Readonly<Record<string, unknown>>;

const event = (kind: string, data: Data = {}, at = AT) => ({ at, kind, data });
const opened = (run_id = RUN) => event("opened", { run_id });
const diagnosed = (data: Data, at = AT) =>
  event("diagnosed", { round: 1, symptom: "status_500", cause: null, action: null, ...data }, at);

function format(
  events: PostmortemFacts["events"],
  fields: Partial<Ticket> = {},
  facts: Partial<PostmortemFacts> = {},
): string {
  return formatPostmortem({
    ticket: { ...TICKET, ...fields },
    events,
    repairs: [],
    moves: [],
    observations: new Map(),
    finding: undefined,
    earlier: { count: 0, last_opened_at: null },
    foundAgain: 0,
    dependants: undefined,
    receipt: null,
    ledgerUrl: "http://ledger.example",
    ...facts,
  }).text;
}

/** Returns a section by its heading. */
const part = (text: string, heading: string) =>
  text.split(`## ${heading}\n\n`)[1]!.split("\n\n## ")[0]!;

const repair = (fields: Partial<Repair> = {}): Repair => ({
  id: "a",
  ticket_id: TICKET.ticket_id,
  service: "billing",
  runbook: "restart-service",
  action_sha256: "0",
  state: "done",
  verified: true,
  undone: false,
  steps: [{ step: "restart", state: "done", code: "restarted", undoes: false }],
  intended_at: AT,
  ended_at: AT,
  ...fields,
});

const look = (number: number, fields: Partial<NumberedObservation> = {}): NumberedObservation => ({
  number,
  round: 1,
  source: "check",
  code: "answer",
  says: `It is seen as number ${number}.`,
  ...fields,
});

describe("formatPostmortem()", () => {
  it("gives the time of each event exactly", () => {
    const begin = Date.parse(AT);
    const events = [0, 236, 30_204, 526_901, 526_908, 4_126_901].map((ms) =>
      event("probed", {}, new Date(begin + ms).toISOString())
    );
    const offsets = [...format(events).matchAll(/\| \+(\S+) \|/g)].map(([, offset]) => offset);
    assert.deepEqual(offsets, [
      "0:00.000",
      "0:00.236",
      "0:30.204",
      "8:46.901",
      "8:46.908",
      "1:08:46.901",
    ]);
  });

  it("keeps text of several lines within its table cell and its quote", () => {
    const text = format([], { resolution: "First\nsecond", description: "One\r\n# Two\n- three" });
    assert.ok(text.includes("| Resolution | First second |"));
    assert.ok(text.includes("> One\n> \\# Two\n> - three\n"));
  });

  it("tells the timeline in sentences, without hashes", () => {
    const text = part(
      format([
        event("detected", { check: "http", code: "status_500", observed_at: AT }),
        event("permitted", {
          action_id: "f".repeat(64),
          policy_version: "0123456789abcdef",
          receipt_id: "9".repeat(16),
        }),
      ]),
      "Timeline",
    );
    assert.match(text, /\| The http check found `status_500`\. \|/);
    assert.match(text, /\| The guardrails allowed the repair\. \|/);
    assert.doesNotMatch(text, /[0-9a-f]{16}/);
  });
});

describe("the timeline of a postmortem", () => {
  it("names an event that has no sentence by its kind", () => {
    assert.match(part(format([event("never_heard_of")]), "Timeline"), /\| never heard of\. \|/);
  });
});

describe("the cause in a postmortem", () => {
  const cause = (events: PostmortemFacts["events"], facts: Partial<PostmortemFacts> = {}) =>
    part(format(events, {}, facts), "Cause");

  it("is not known where a diagnosis named none, whatever the symptom", () => {
    assert.equal(cause([]), "Nothing was diagnosed.");
    const text = cause([opened(), diagnosed({ cause_says: "The cause is not known." })]);
    assert.match(text, /^The cause is not known\. The symptom is `status_500`\.$/);
  });

  it("names the observations by which it was named, and says where there are none", () => {
    const named = {
      cause: "disk_full",
      cause_says: "The disk of billing is full.",
      cause_confidence: 0.85,
    };
    const text = cause([opened(), diagnosed({ ...named, observations: [2, 5] })]);
    assert.match(
      text,
      /^The disk of billing is full\. The diagnosis of round 1 named the cause `disk_full` with a confidence of 0\.85, by observations 2 and 5\. The symptom is `status_500`\./,
    );
    assert.match(
      cause([opened(), diagnosed({ ...named, observations: [] })]),
      /with a confidence of 0\.85, by the code of the check alone\./,
    );
  });

  it("stays the one that was named first when a later fault joins", () => {
    const text = cause([
      opened(),
      diagnosed({ cause: "disk_full", observations: [1] }),
      diagnosed({ cause: "port_taken", symptom: "refused", round: 2, observations: [4] }),
      diagnosed({ cause: null, symptom: "timeout", round: 3 }),
    ]);
    const [first, second, third] = text.split("\n\n");
    assert.match(first!, /round 1 named the cause `disk_full`/);
    assert.match(
      second!,
      /\(round 2\) named `port_taken`, by observation 4\. Its symptom was `refused`/,
    );
    assert.match(third!, /\(round 3\) named no cause\. Its symptom was `timeout`/);
  });

  it("is told apart from what was ruled out, and from what was only less likely", () => {
    const text = cause([
      opened(),
      diagnosed({
        cause: "disk_full",
        observations: [1],
        alternatives: [
          { cause: "deadlock", observations: [3], because: "it computes" },
          { cause: "port_taken", observations: [], because: "less speaks for it" },
        ],
      }),
    ]);
    assert.match(text, /Ruled out:\n\n- `deadlock` \(by observation 3\): it computes/);
    assert.match(text, /left open:\n\n- `port_taken` \(by the code of the check alone\): less/);
  });

  it("tells the order of a model as such, and nothing where all that it wrote was dropped", () => {
    const named = { cause: "disk_full", observations: [1] };
    const written = { cause: "port_taken", text: "Another program listens.", evidence: [4] };
    const text = cause([
      opened(),
      diagnosed({
        ...named,
        hypotheses: { written_by: "m-1", hypotheses: [written], dropped: [] },
      }),
    ]);
    assert.match(text, /named the cause `disk_full`/);
    assert.match(
      text,
      /The model `m-1` put what nothing rules out in this order, which decided nothing:\n\n- `port_taken` \(by observation 4\): Another program listens\./,
    );
    const dropped = {
      written_by: "m-1",
      hypotheses: [],
      dropped: ["A sentence cites no evidence"],
    };
    for (const hypotheses of [dropped, undefined]) {
      assert.doesNotMatch(cause([opened(), diagnosed({ ...named, hypotheses })]), /model/);
    }
  });

  it("has the category of what decided it", () => {
    const measured = cause([diagnosed({
      basis: "measured",
      says: "Nothing listens on 127.0.0.1:9000.",
      because: "The program does not run.",
      classification: { category: "application", confidence: 0.8 },
      reading: { category: "dns", confidence: 0.2 },
    })]);
    assert.match(
      measured,
      /What was measured: Nothing listens on 127\.0\.0\.1:9000\. Its kind, by what was measured: application with a confidence of 0\.80\. The program does not run\. Its words alone: dns/,
    );
    const words = { classification: { category: "dns", confidence: 0.9 } };
    assert.match(cause([diagnosed({ basis: "words", ...words })]), /by its words: dns/);
    assert.match(cause([diagnosed({ basis: "observed", ...words })]), /by the cause: dns/);
  });
});

describe("a postmortem about what was seen", () => {
  it("lists what was looked at, also where nothing could be had", () => {
    const seen = [
      look(1),
      look(2, { source: "log", code: "not_had", figures: { reason: "permission" } }),
    ];
    const text = format([opened()], {}, { observations: new Map([[RUN, seen]]) });
    const looked = part(text, "What was looked at");
    assert.match(looked, /- Observation 1, check in round 1: It is seen as number 1\./);
    assert.match(
      looked,
      /- Observation 2, log in round 1: could not be looked at \(permission\)\./,
    );
    assert.match(
      part(format([]), "What was looked at"),
      /^Nothing that was looked at is on record/,
    );
  });

  it("tells what had changed before, and takes no silence for a proof", () => {
    const changes = (seen: readonly NumberedObservation[]) =>
      part(
        format([opened(), diagnosed({})], {}, { observations: new Map([[RUN, seen]]) }),
        "What had changed before",
      );
    const files = look(3, {
      source: "changes",
      says: "2 files were changed.",
      text: "a.yaml\nb.yaml",
    });
    assert.equal(
      changes([files]),
      "- 2 files were changed. (Observation 3)\n  - a.yaml\n  - b.yaml",
    );
    const later = { ...files, round: 2 }; // by the repair itself, perhaps
    assert.match(changes([later]), /^No change before it is on record\./);
    assert.match(changes([{ ...files, code: "not_had" }]), /^The platform could not look/);
  });

  it("says when it was first seen, and not when it began", () => {
    const detected = event("detected", { check: "http", code: "refused", observed_at: AT });
    const finding = { detector: "services", first_seen_at: "2026-07-01T11:57:00.000Z" };
    const text = part(format([detected], {}, { finding }), "Detection");
    assert.match(
      text,
      /first seen at 2026-07-01T11:57:00\.000Z by the detector `services`, and the ticket was opened 3 min later\./,
    );
    assert.match(text, /when it was last seen in order is not on record/);
    const good = { last_good_at: "2026-07-01T11:56:30.000Z" };
    const restored = format([detected], good, { finding });
    assert.match(
      part(restored, "Detection"),
      /The check passed last at 2026-07-01T11:56:30\.000Z, so that the fault went unseen for at most 30\.0 s\./,
    );
    assert.match(restored, /\| Time to restore \| 4 min from the last check that passed \|/);
    assert.match(restored, /\| Duration \| 1\.0 s from the ticket \|/);
    assert.match(
      part(format([detected]), "Detection"),
      /first seen at 2026-07-01T12:00:00\.000Z, /,
    );
    const report = event("detected", { check: "report", observed_at: AT });
    assert.match(
      part(format([report]), "Detection"),
      /^The fault was reported at .* When it began is not on record\.$/,
    );
    assert.match(part(format([]), "Detection"), /no detector found it/);
  });

  it("tells the impact as far as it is known", () => {
    const related = [{ service: "shop", code: "timeout", fingerprint: "f" }];
    const detected = event("detected", { check: "http", code: "refused", related });
    const text = part(format([detected, detected], {}, { dependants: ["till"] }), "Impact");
    assert.match(text, /^1 other finding was put to this incident: shop \(`timeout`\)\./);
    assert.match(text, /is needed by till; whether they suffered is not said by that\./);
    assert.match(text, /requests or users were affected is not known to the platform\.$/);
    const none = part(format([]), "Impact");
    assert.match(none, /^No other finding was put to this incident\. How many/);
    assert.match(
      part(format([], {}, { dependants: [] }), "Impact"),
      /knows nothing that needs billing/,
    );
  });

  it("counts earlier incidents of the same fault", () => {
    const earlier = { count: 2, last_opened_at: "2026-06-30T08:00:00.000Z" };
    const text = format([], {}, { earlier });
    assert.match(
      part(text, "How often before"),
      /had 2 incidents before, the last one opened at 2026-06-30T08/,
    );
    assert.match(part(text, "What to do next"), /what its 3 incidents have in common/);
    assert.match(part(format([]), "How often before"), /^No earlier incident/);
    assert.match(part(format([], { workflow_id: null }), "How often before"), /can't be compared/);
  });
});

describe("a postmortem about what was done", () => {
  const done = (one: Partial<Repair>) => {
    const text = part(format([], {}, { repairs: [repair(one)] }), "What was done");
    return text.split("\n")[0];
  };
  const step = (state: "done" | "not_done" | "unknown", code: string, undoes = false) => ({
    step: "restart",
    state,
    code,
    undoes,
  });

  it("has the result of the verification with each repair", () => {
    assert.match(done({})!, /it was carried out\. The check \*\*passed\*\* afterwards\.$/);
    assert.match(
      done({ verified: false })!,
      /carried out\. The check still failed afterwards: \*\*it did not help/,
    );
    assert.match(done({ verified: null })!, /carried out\. Whether it helped was not checked\.$/);
  });

  it("calls nothing done that was not", () => {
    const idle = done({
      state: "not_done",
      verified: null,
      steps: [step("not_done", "runbook_changed")],
    });
    assert.match(idle!, /it \*\*changed nothing\*\*\. $/);
    const needless = done({ steps: [step("not_done", "nothing_to_do")] });
    assert.match(
      needless!,
      /changed nothing\*\*\. The check passed afterwards, though it had changed nothing/,
    );
    const waited = done({ steps: [step("done", "joined")] });
    assert.match(
      waited!,
      /it noted or waited, and \*\*changed nothing\*\*\. The check passed afterwards, though/,
    );
    const part = done({
      state: "not_done",
      verified: false,
      steps: [step("done", "exit_0"), step("not_done", "x")],
    });
    assert.match(part!, /carried out \*\*in part\*\*: 1 of 2 steps\./);
    assert.match(
      done({ state: "unknown", verified: null })!,
      /nobody can tell what it did\*\*\. Whether it helped was not checked/,
    );
    assert.match(done({ state: "intended", verified: null })!, /its end is not on record/);
    assert.match(
      done({ verified: false, steps: [step("done", "not_verified_down")] })!,
      /but the check of its own step `restart` \*\*failed\*\*/,
    );
  });

  it("tells what was undone, and what was not", () => {
    const undo = (...states: ("done" | "not_done")[]) =>
      done({
        verified: false,
        steps: [step("done", "exit_0"), ...states.map((state) => step(state, "x", true))],
      });
    assert.match(undo("done")!, /What could be undone of it was undone\.$/);
    assert.match(undo("done", "not_done")!, /Of the 2 steps to undo, 1 was undone\.$/);
    assert.doesNotMatch(undo()!, /undone/);
  });

  it("takes one of several votes for no approval", () => {
    const move = { receipt_id: "r", key_id: "k", principal: "ann" };
    const vote = event("approval_approved", { approval_id: "APR-1", receipt_id: "r" });
    const withStatus = (status: string) => format([vote], {}, { moves: [{ ...move, status }] });
    assert.match(
      part(withStatus("approved"), "Timeline"),
      /Approval `APR-1` was given by \*\*ann, key k\*\*\./,
    );
    assert.match(
      part(withStatus("pending"), "Timeline"),
      /had one more vote by \*\*ann, key k\*\*, and needed another/,
    );
    assert.match(
      part(withStatus("pending"), "What was done"),
      /^- one of several votes for approval: `APR-1`/,
    );
  });
});

describe("the end in a postmortem", () => {
  const row = (text: string, name: string) =>
    new RegExp(`\\| ${name} \\| (.*) \\|`).exec(text)?.[1];
  const outcome = (...args: Parameters<typeof format>) => row(format(...args), "Outcome");

  it("is a repair only where the check passed after one that was carried out", () => {
    const steps = [{ step: "restart", state: "not_done", code: "x", undoes: false } as const];
    assert.match(outcome([], {}, { repairs: [repair()] })!, /^repaired by the platform/);
    assert.match(outcome([])!, /without a repair just before/);
    assert.match(outcome([], {}, { repairs: [repair({ verified: false })] })!, /without a repair/);
    assert.match(outcome([], {}, { repairs: [repair({ steps })] })!, /without a repair/);
    const joined = [{ step: "join", state: "done", code: "joined", undoes: false } as const];
    assert.match(outcome([], {}, { repairs: [repair({ steps: joined })] })!, /without a repair/);
    const closed = { outcome: "resolved" };
    assert.equal(outcome([event("resolved", { by: "person" })], closed), "closed by a person");
    assert.equal(outcome([event("resolved")], closed), "closed with a note"); // perhaps by an agent
  });

  it("is an escalation also where people closed the ticket, or another run took it over", () => {
    const escalated = event("escalated", { reason: "no_runbook" });
    for (const fields of [{ escalated: true }, { escalated: false }, { outcome: "resolved" }]) {
      assert.match(
        row(format([escalated], fields), "Escalated to people")!,
        /^yes: 2026-07-01T12:00:00\.000Z \(No runbook fits what was found\)$/,
      );
    }
    assert.equal(row(format([], { escalated: true }), "Escalated to people"), "yes");
    assert.equal(row(format([event("approval_escalated")]), "Escalated to people"), "no");
  });

  it("leaves the steps that the record has open", () => {
    const next = (...args: Parameters<typeof format>) => part(format(...args), "What to do next");
    assert.match(next([], { ...OPEN, escalated: true }), /A person has to act now\./);
    assert.match(next([], { ...OPEN, approval_id: "APR-1" }), /Decide about approval `APR-1`/);
    assert.match(
      next([diagnosed({})]),
      /Find the cause: the diagnoses name only the symptom `status_500`/,
    );
    const blind = look(1, { source: "log", code: "not_had", figures: { reason: "permission" } });
    const observations = new Map([[RUN, [blind]]]);
    assert.match(
      next([opened(), diagnosed({})], {}, { observations }),
      /could not: log \(permission\)/,
    );
    const named = diagnosed({
      cause: "disk_full",
      passed_over: [{ runbook: "clean", code: "parameter_missing" }],
    });
    assert.match(next([named]), /Set the value that runbook `clean` needs/);
    assert.doesNotMatch(next([named]), /mended for good/);
    assert.match(next([named], {}, { repairs: [repair()] }), /`disk_full` is mended for good/);
    assert.match(
      next([], {}, { repairs: [repair({ verified: false })] }),
      /why runbook `restart-service` did not help/,
    );
    assert.match(
      next([], {}, { repairs: [repair({ state: "unknown", verified: null })] }),
      /nobody can tell/,
    );
    assert.equal(next([]), "Nothing more follows from the record alone.");
    assert.match(next([diagnosed({})], { service: "test-0a1b2c3d" }), /^It was a drill/);
    assert.match(next([diagnosed({})], { service: "test-0a1b2c3d", ...OPEN }), /Find the cause/);
  });
});
