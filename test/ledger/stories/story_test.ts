import assert from "node:assert/strict";
import { KINDS, readStoryReceipt, tellReceipt, tellStory } from "../../../ledger/stories/mod.ts";

const INCIDENT = "INC-00000000000a";
const APPROVAL = "APR-00000000000a";

let position = 0;
/** Makes a receipt. @param at seconds after 23:42:00 */
function receipt(at: number, fields: Readonly<Record<string, unknown>>) {
  const timestamp = `2026-07-01T23:42:${String(at).padStart(2, "0")}.000000+00:00`;
  const record = {
    id: `r${position}`,
    timestamp,
    actor: "itsm-loop",
    subject: INCIDENT,
    ...fields,
  };
  return readStoryReceipt(JSON.stringify(record), position++);
}

const opened = receipt(7, {
  category: "ticket_opened",
  action: "ticket.open",
  outcome: "open",
  details: { check: "http", code: "refused", related: 2 },
});
const judged = receipt(8, {
  category: "guardrail_verdict",
  action: "validate",
  outcome: "needs_approval",
  details: { rails: { input_safety: true, execution_bounds: false }, freeze: true },
});
const asked = receipt(8, {
  category: "approval",
  subject: APPROVAL,
  action: "approval.requested",
  outcome: "pending",
  details: { approval_id: APPROVAL, ticket_id: INCIDENT, needed: 1, expires_in_seconds: 3600 },
});
const approved = receipt(20, {
  category: "approval",
  subject: APPROVAL,
  action: "approval.approved",
  outcome: "approved",
  details: {
    approval_id: APPROVAL,
    ticket_id: INCIDENT,
    needed: 1,
    approvers: ["key:00000000000000aa"],
  },
});
const intended = receipt(21, {
  category: "repair_intended",
  action: "restart",
  outcome: "intended",
  details: { effect_id: "e1", step: 1, steps: 1, round: 1 },
});
const healed = receipt(23, {
  category: "self_heal",
  action: "runbook",
  outcome: "sealed",
  details: {
    rounds: 1,
    effect: "done",
    steps: [{ effect_id: "e1", kind: "restart", state: "done", code: "started" }],
    verified: { healthy: true, code: "status_200" },
    diagnosis: { citations: [{ id: "INC-00000000000b" }] },
    timeline: [
      { step: "detect", from_ms: 0, to_ms: 40 },
      { step: "approve", from_ms: 40, to_ms: 14_000 },
      { step: "verify", from_ms: 14_000, to_ms: 16_100 },
    ],
  },
});
const incident = [opened, judged, asked, approved, intended, healed];

describe("tellStory()", () => {
  it("tells an incident in sentences, each with its receipt and the ids that it names", () => {
    const { sentences, missing, mentions } = tellStory(INCIDENT, incident);
    assert.deepEqual(sentences.map(({ text }) => text), [
      "An HTTP check found a fault (refused); two other faults probably come from it; a ticket was opened.",
      "It needed approval: changes were frozen.",
      "A person was asked to approve, within 1 h.",
      "Approved by one person.",
      "The repair began: a restart.",
      "Restarted once, and found healthy 16 s after the fault was seen.",
    ]);
    assert.deepEqual(sentences.map((one) => one.receipt), incident.map(({ id }) => id));
    assert.deepEqual(sentences[3]!.names, [APPROVAL, INCIDENT, "key:00000000000000aa"]);
    assert.deepEqual([missing, mentions], [[], []]);
  });

  it("sums it up in one line, and tells what took how long", () => {
    const { summary, timeline } = tellStory(INCIDENT, incident);
    assert.equal(
      summary,
      "An HTTP check found a fault (refused); two other faults probably come from it; a ticket was opened → it needed " +
        "approval: changes were frozen → approved by one person → restarted once, and found healthy 16 s after the " +
        "fault was seen.",
    );
    assert.deepEqual(timeline.map(({ step }) => step), ["detect", "approve", "verify"]);
  });

  it("says what it can't tell", () => {
    assert.match(
      tellStory(INCIDENT, [opened, intended]).missing.join(),
      /how it ended: it goes on/,
    );
    assert.match(tellStory(INCIDENT, [healed]).missing.join(), /how it began/);
    const lost = [opened, intended, { ...healed, details: { verified: { healthy: true } } }];
    assert.match(
      tellStory(INCIDENT, lost).missing.join(),
      /became of one step of an earlier round/,
    );
    assert.match(tellStory(APPROVAL, [asked]).missing.join(), /waits for people/);
    assert.match(
      tellStory(APPROVAL, [approved]).missing.join(),
      /No receipt says that people were asked/,
    );
    assert.match(tellStory(INCIDENT, []).summary, /No receipt of the platform is about it/);
  });

  it("keeps apart what another incident or a key holder says of it", () => {
    const forged = receipt(30, {
      category: "api_seal",
      actor: "key:00000000000000bb",
      action: "self_heal",
      outcome: "sealed",
    });
    const { sentences, mentions } = tellStory("INC-00000000000b", [healed, {
      ...forged,
      subject: "INC-00000000000b",
    }]);
    assert.deepEqual(sentences, []);
    assert.match(mentions[1]!.text, /A key holder had a statement of their own sealed/);
    assert.equal(mentions.length, 2);
  });

  it("tells of a timeline with another form that there is none", () => {
    const odd = [
      { step: "repair", from_ms: 5, to_ms: 1 },
      { step: "<b>", from_ms: 0, to_ms: 1 },
      { step: "repair", from_ms: 0 },
      "repair",
    ];
    for (const step of odd) {
      const story = tellStory(INCIDENT, [{ ...healed, details: { timeline: [step] } }]);
      assert.deepEqual(story.timeline, [], JSON.stringify(step));
    }
  });
});

/** A receipt of each form, and what its sentence says. */
const TOLD: readonly (readonly [fields: Readonly<Record<string, unknown>>, says: RegExp])[] = [
  [
    { category: "ticket_opened", action: "ticket.take_over", details: { code: "timeout" } },
    /new run took over/,
  ],
  [
    { category: "ticket_opened", action: "problem.open", details: { cases: 3 } },
    /came three times/,
  ],
  [
    { category: "ticket_opened", action: "tickets.create", details: { severity: "low" } },
    /low severity/,
  ],
  [{
    category: "ticket_opened",
    action: "ticket.open",
    details: { check: "report", code: "reported" },
  }, /Somebody reported/],
  [
    { category: "ticket_opened", action: "ticket.open", details: { code: "restart_asked" } },
    /asked for a restart/,
  ],
  [{ category: "ticket_taken", outcome: "taken" }, /A person took it over/],
  [
    { category: "ticket_closed", action: "tickets.close", outcome: "resolved" },
    /closed as resolved/,
  ],
  [
    { category: "ticket_closed", action: "tickets.recovered", details: { mended_by: "people" } },
    /people mended it/,
  ],
  [{ category: "guardrail_verdict", outcome: "allow" }, /guardrails allowed/],
  [
    { category: "guardrail_verdict", outcome: "deny", details: { rails: { input_safety: false } } },
    /refused it, because of the safety/,
  ],
  [
    { category: "repair_held", details: { stop: "maintenance", until: "2026-07-01T12:00:00Z" } },
    /maintenance window until/,
  ],
  [{ category: "undo_intended", action: "restart" }, /undoing began: a restart/],
  [
    { category: "escalation", action: "runbook", details: { reason: "approval_expired" } },
    /left to people: nobody decided in time/,
  ],
  [
    { category: "escalation", action: "run.ended", details: { status: "TERMINATED" } },
    /ended from outside \(terminated\)/,
  ],
  [{ category: "self_heal", outcome: "sealed" }, /healthy before anything was done/],
  [{ category: "service_brought_back", outcome: "done" }, /was started again/],
  [{
    category: "approval",
    action: "approval.approved",
    outcome: "pending",
    details: { needed: 3, approvers: [1] },
  }, /two more have to/],
  [{ category: "approval", action: "approval.denied", outcome: "denied" }, /A person denied/],
  [{ category: "approval", action: "approval.outdated" }, /had changed/],
  [{ category: "approval", action: "approval.refused" }, /did not count/],
  [{
    category: "governed_act",
    subject: "itsm_close_ticket",
    action: "tickets.close",
    outcome: "success",
  }, /call itsm_close_ticket ended: done/],
  [{
    category: "tool_call",
    subject: "get_status",
    outcome: "success",
    details: { door: "mcp", duration_ms: 12 },
  }, /called get_status over MCP: done/],
  [{
    category: "governance_decision",
    subject: "x",
    outcome: "needs_approval",
    details: { rule: "writes" },
  }, /people had to approve by the rule writes/],
  [
    { category: "device_command", action: "issued", details: { script: "disk_usage" } },
    /issued to a device: the script disk_usage/,
  ],
  [
    { category: "device_command", action: "ended", outcome: "done", details: { exit_code: 0 } },
    /ended: done, exit code 0/,
  ],
  [{ category: "article_published", outcome: "done" }, /byte for byte/],
  [{ category: "media_published", details: { media_type: "video/mp4" } }, /A film was published/],
  [{ category: "key_revoked" }, /A key was revoked/],
];

describe("tellReceipt()", () => {
  for (const [fields, says] of TOLD) {
    it(`says of ${fields.category} ${fields.action ?? fields.outcome ?? ""} ${says.source}`, () => {
      const told = tellReceipt(receipt(1, { action: "act", outcome: "ok", ...fields }));
      assert.match(told.text, says);
      assert.match(told.text, /^[A-Z].*[.!?”)]$/);
      assert.equal(told.known, true);
    });
  }

  it("knows a sentence for every category that is said to have happened", () => {
    const unknown = Object.values(KINDS).flat().filter((category) =>
      !tellReceipt(receipt(1, { category, action: "approval.denied", outcome: "allow" })).known &&
      category !== "ticket_opened"
    );
    assert.deepEqual(unknown, []);
  });

  it("repeats the fields of what it does not know, and says what can't be read", () => {
    const odd = tellReceipt(receipt(1, { category: "no_such_thing", action: "a_b", outcome: "c" }));
    assert.deepEqual([odd.text, odd.known], [
      "A receipt of the category no_such_thing (a b: c).",
      false,
    ]);
    for (const record of ["no JSON", "[]", "null", '{"details":[],"category":7}']) {
      const told = tellReceipt(readStoryReceipt(record, 4));
      assert.deepEqual([told.text, told.position], ["This receipt can't be read.", 4]);
    }
  });

  it("survives fields of every odd type", () => {
    const values = [null, 0, -1, 1e300, "", "__proto__", [], {}, [[null]], { a: { b: [] } }, true];
    for (const category of [...Object.values(KINDS).flat(), "constructor", "__proto__"]) {
      for (const value of values) {
        const details = Object.fromEntries(
          [
            "check",
            "code",
            "steps",
            "rails",
            "rounds",
            "needed",
            "approvers",
            "timeline",
            "stop",
            "until",
            "effect",
          ]
            .map((name) => [name, value]),
        );
        assert.ok(
          tellReceipt(receipt(1, { category, action: value, outcome: value, details })).text,
        );
      }
    }
  });
});
