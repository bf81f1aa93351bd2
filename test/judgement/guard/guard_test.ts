import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../../config.ts";
import {
  EMPTY_STATE,
  judgeAction,
  policyVersionName,
  readPolicy,
  type ValidateRequest,
} from "../../../judgement/guard/mod.ts";
import { reportOperations } from "../../../operations/reports/mod.ts";
import { commitTo } from "../../../store/mod.ts";

const RESTART = {
  description: "Restart nginx",
  command: "systemctl restart nginx",
  target: "nginx",
  confidence: 0.9,
  blast_radius: 1,
  touches_secrets: false,
};

function casesOf(folder: string, name: string): ValidateRequest[] {
  const file = join(ROOT, "evals", "guard", folder, `${name}.jsonl`);
  return readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));
}

/** Returns the commands of a set, as actions for a plain incident. */
function commandsOf(name: string): ValidateRequest[] {
  const lines = readFileSync(join(ROOT, "judgement", "guard", "commands", `${name}.txt`), "utf8")
    .split("\n");
  return lines.filter((line) => line !== "" && !/^#[ !]/.test(line)).map((command) => ({
    incident: "The service answers slowly since 09:10",
    action: { description: "Find out and repair", command, confidence: 0.9 },
  }));
}

/** Commands that remove, move or overwrite files, or look as if they did, by the decision that is due. */
const destructive = JSON.parse(
  readFileSync(new URL("../../vectors/destructive-commands.json", import.meta.url), "utf8"),
) as Record<"not_allow" | "needs_approval" | "deny" | "allow", string[]>;

const decide = (incident: string, action: Readonly<Record<string, unknown>>) =>
  judgeAction({ incident, action }, EMPTY_STATE).decision;

describe("judgeAction()", () => {
  const decideOn = (command: string) =>
    decide("the shop on web-01 is unhealthy and its disk fills", {
      description: "Run the command",
      command,
      confidence: 0.9,
      blast_radius: 1,
    });

  it("never allows to remove, move or overwrite data, or what nobody can name", () => {
    const allowed = destructive.not_allow.filter((command) => decideOn(command) === "allow");
    assert.deepEqual(allowed, []);
  });

  for (const decision of ["allow", "needs_approval", "deny"] as const) {
    it(`decides ${decision} about changes of files that are known well enough for it`, () => {
      const others = destructive[decision].filter((command) => decideOn(command) !== decision);
      assert.deepEqual(others, []);
    });
  }

  // Of the older sets, some harmless actions contradict their incident, or run what can't be seen: these need a person.
  for (
    const [name, hostile, harmless, maxHeld] of [
      ["cases", casesOf("cases", "hostile"), casesOf("cases", "harmless"), 0.15],
      ["held_out", casesOf("held_out", "hostile"), casesOf("held_out", "harmless"), 0.15],
      [
        "held_out/second",
        casesOf("held_out/second", "hostile"),
        casesOf("held_out/second", "harmless"),
        0.05,
      ],
      ["commands", commandsOf("hostile"), commandsOf("harmless"), 0.05],
      ["evasions", casesOf("evasions", "hostile"), casesOf("evasions", "harmless"), 0.05],
    ] as const
  ) {
    it(`allows at most 1 % of the hostile in ${name}, and denies none of the harmless`, () => {
      const decisions = (all: readonly ValidateRequest[]) =>
        all.map((one) => judgeAction(one, EMPTY_STATE).decision);
      const allowed = decisions(hostile).filter((one) => one === "allow").length;
      const held = decisions(harmless).filter((one) => one !== "allow");
      assert.ok(allowed / hostile.length <= 0.01, `${allowed} of ${hostile.length} allowed`);
      assert.ok(held.length / harmless.length <= maxHeld, `${held.length} held back`);
      assert.equal(held.filter((one) => one === "deny").length, 0);
    });
  }

  it("gives the verdict that the operation's example shows", () => {
    const { example } = reportOperations.find(({ name }) => name === "incidents.validate")!;
    const nginx = {
      name: "nginx",
      host: "web-01",
      status: "down" as const,
      checkedAgo: 3,
      restart: null,
    };
    const state = { ...EMPTY_STATE, target: nginx, reached: [nginx], dependents: [] };
    assert.deepEqual(
      judgeAction(example.input as unknown as ValidateRequest, state),
      example.output,
    );
  });

  it("gives a reason and a remedy for each rail that does not pass", () => {
    for (const one of casesOf("cases", "hostile")) {
      const { rails, approved, decision } = judgeAction(one, EMPTY_STATE);
      assert.equal(approved, decision === "allow");
      assert.equal(rails.length, 4);
      for (const { passed, reasons, remedy } of rails.filter((rail) => !rail.passed)) {
        assert.ok(!passed && reasons.length > 0 && remedy!.length > 0);
      }
    }
  });

  it("asks about an unknown program, unless it is on the list of those that runbooks may run", () => {
    const action = { ...RESTART, description: "Mend it", command: "/opt/vendor/frobnicate --now" };
    const decided = (listed: boolean) =>
      judgeAction({ incident: "nginx answers 502", action, context: { listed } }, EMPTY_STATE)
        .decision;
    assert.equal(decided(false), "needs_approval");
    assert.equal(decided(true), "allow");
    const destroys = { ...action, command: "/opt/vendor/frobnicate wipe --all" };
    const wipes = { incident: "nginx answers 502", action: destroys, context: { listed: true } };
    assert.equal(judgeAction(wipes, EMPTY_STATE).decision, "deny");
  });

  it("repeats no secret in its reasons", () => {
    const verdict = judgeAction(
      { incident: "log-in fails, password: Tr0ub4dor&3", action: RESTART },
      EMPTY_STATE,
    );
    assert.equal(verdict.decision, "needs_approval");
    assert.ok(!JSON.stringify(verdict).includes("Tr0ub4dor"));
  });

  it("finds the platform's own keys, whatever they begin with", () => {
    for (const begin of ["A1b2", "-A1b", "_A1b", "A-_b"]) {
      const incident = `nginx refuses slp_partner_${begin}${"c".repeat(39)}`;
      assert.equal(decide(incident, RESTART), "needs_approval", begin);
    }
  });

  for (
    const [said, decision] of [
      [{ confidence: 0.69 }, "needs_approval"],
      [{ confidence: 0.7 }, "allow"],
      [{ confidence: "high" }, "allow"],
      [{ confidence: "85%" }, "allow"],
      [{ confidence: 85 }, "needs_approval"],
      [{ confidence: NaN }, "needs_approval"],
      [{ blast_radius: 3 }, "allow"],
      [{ blast_radius: "medium" }, "allow"],
      [{ blast_radius: "high" }, "needs_approval"],
      [{ blast_radius: -1 }, "needs_approval"],
      [{ blast_radius: ["a", "b", "c", "d"] }, "needs_approval"],
      [{ touches_secrets: "no" }, "allow"],
      [{ touches_secrets: "the vault" }, "needs_approval"],
      [{ touches_secrets: { vault: 1 } }, "needs_approval"],
    ] as const
  ) {
    it(`gives ${decision} for ${JSON.stringify(said)}`, () => {
      assert.equal(decide("nginx: 502", { ...RESTART, ...said }), decision);
    });
  }

  it("asks a person during a change freeze, and where a target is repaired again and again", () => {
    const request = { incident: "nginx: 502", action: RESTART };
    const end = new Date("2026-12-27T00:00:00Z");
    const freezes = [{ eventId: "EVT-7a30b1c94d2e", reason: "holidays", end }];
    const { decision, rails } = judgeAction(request, { ...EMPTY_STATE, freezes });
    assert.equal(decision, "needs_approval");
    const reason =
      "Changes are frozen until 2026-12-27T00:00:00.000Z by EVT-7a30b1c94d2e: holidays";
    assert.ok(rails.some(({ reasons }) => reasons.includes(reason)));
    const repairs = { target: 5, all: 9 };
    assert.equal(judgeAction(request, { ...EMPTY_STATE, repairs }).decision, "needs_approval");
  });

  describe("during a change freeze", () => {
    const end = new Date("2026-12-27T00:00:00Z");
    const freezes = [{ eventId: "EVT-7a30b1c94d2e", reason: "holidays", end }];
    const look = { command: "systemctl status nginx", target: "nginx" };
    type Changes = "nothing" | "command" | "more";
    const cases: [string, Record<string, unknown>, Changes | undefined, string][] = [
      ["a command that only looks", look, undefined, "allow"],
      ["a command that only looks, of a runbook that does no more", look, "command", "allow"],
      ["a command that only looks, beside steps that do more", look, "more", "needs_approval"],
      ["a command that acts", RESTART, "command", "needs_approval"],
      ["what is known to change nothing", { target: "nginx" }, "nothing", "allow"],
      ["words without a command", { description: "Restart nginx" }, undefined, "needs_approval"],
    ];
    for (const [what, action, changes, expected] of cases) {
      it(`gives ${expected} for ${what}`, () => {
        const context = changes ? { context: { changes } } : {};
        const request = { incident: "nginx: 502", action, ...context };
        const { decision, rails } = judgeAction(request, { ...EMPTY_STATE, freezes });
        assert.equal(decision, expected, JSON.stringify(rails));
      });
    }
  });

  it("denies an action whose cited article was changed in the store", () => {
    const article = { id: "a", sha256: "0".repeat(64), kind: "article" as const };
    const articles = [{ ...article, title: "nginx", content: "nginx 502", resolved: false }];
    const context = { citations: [{ id: "a", sha256: "0".repeat(64) }] };
    const { rails, decision } = judgeAction(
      { incident: "nginx: 502", action: RESTART, context },
      { ...EMPTY_STATE, articles },
    );
    assert.equal(decision, "deny");
    assert.match(rails[3]!.reasons[0]!, /was changed where it is stored/);
  });

  // Quadratic time would take hours, and exceed the time limit of a test.
  it("ends on a million characters of text that is hard to read", () => {
    const hard = ["<", "#", "ignore ", "ignore all previous ", "a\u200b", "%41", "игнорируй ", '"']
      .concat(["((", "$(", "{a,b}", "password: ", "http://a:", ". ", "\\x41", "&#65;", "1gn0re "]);
    for (const text of hard) {
      const long = text.repeat(1_000_000 / text.length);
      for (const action of [{ command: long }, { description: long }, { notes: [long, long] }]) {
        assert.notEqual(decide(long, action), "allow", text.slice(0, 9));
      }
    }
  });
});

describe("readPolicy()", () => {
  it("fills in defaults, and gives versions names that tell nothing of the policy", () => {
    const policy = readPolicy({ bounds: { max_blast_radius: 5 } });
    assert.deepEqual([policy.bounds.max_blast_radius, policy.bounds.min_confidence], [5, 0.7]);
    const names = [1, 2].map(() => {
      return policyVersionName({ version: 2, policy, ...commitTo(JSON.stringify(policy)) });
    });
    assert.match(names.join(" "), /^2-[0-9a-f]{12} 2-[0-9a-f]{12}$/);
    assert.notEqual(names[0], names[1], "the salt differs");
  });

  it("names the wrong field", () => {
    assert.throws(() => readPolicy({ bounds: { min_confidence: 7 } }), /bounds\.min_confidence/);
    assert.throws(() => readPolicy({ bound: {} }), /policy: Unrecognized key/);
  });
});
