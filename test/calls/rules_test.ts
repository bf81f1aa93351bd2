import assert from "node:assert/strict";
import {
  isWithinHours,
  readGovernanceFile,
  readGovernancePolicy,
  ruleFor,
} from "../../calls/governance/mod.ts";
import type { Caller } from "../../contract/mod.ts";

const CALLER: Caller = {
  keyId: "1f0c7b5a9d3e4820",
  tenant: "acme",
  tier: "partner",
  scope: "full",
  principal: "night-agent",
  mayApprove: false,
  address: "127.0.0.1",
};
const CALL = {
  names: ["rmm_run_script", "rmm.run_script"],
  effect: "run",
  humanControl: false,
  door: "mcp",
  caller: CALLER,
  environment: "production",
  now: new Date("2026-07-03T23:30:00Z"), // a Friday
  input: { agent_id: "db-1", body: { command: "rm -rf /var/cache", tags: ["slow", "night"] } },
  blastRadius: () => Promise.resolve(4),
  isRateOver: () => Promise.resolve(false),
} as const;

async function decide(when: unknown, facts: Partial<Parameters<typeof ruleFor>[1]> = {}) {
  const { rules } = readGovernancePolicy({ rules: [{ name: "own", when, then: "deny" }] });
  return (await ruleFor(rules, { ...CALL, ...facts }))?.name === "own";
}

describe("a rule on calls", () => {
  const fits: readonly (readonly [string, unknown])[] = [
    ["everything, where it says nothing", {}],
    ["a tool", { tools: ["rmm_run_script"] }],
    ["tools by a pattern", { tools: ["crm_*", "rmm_*"] }],
    ["the operation behind a tool", { tools: ["rmm.run_script"] }],
    ["effects and doors", { effects: ["run"], doors: ["mcp"] }],
    ["tenant, key, principal and tier", {
      tenants: ["ac*"],
      keys: ["1f0c7b5a9d3e4820"],
      principals: ["night-*"],
      tiers: ["partner"],
    }],
    ["the environment", { environments: ["production"] }],
    ["an hour, over midnight", { hours: { from: "22:00", to: "06:00", days: ["fri"] } }],
    ["an argument", { arguments: { "body.command": "^rm " } }],
    ["an entry of a list", { arguments: { "body.tags": "^night$" } }],
    ["more services than are reached", { blast_radius_over: 3 }],
  ];
  for (const [what, when] of fits) {
    it(`speaks of ${what}`, async () => assert.equal(await decide(when), true));
  }
  const misses: readonly (readonly [string, unknown])[] = [
    ["another tool", { tools: ["rmm_run"] }],
    ["another tenant", { tenants: ["acm"] }],
    ["another environment", { environments: ["staging"] }],
    ["another day", { hours: { from: "22:00", to: "06:00", days: ["sat"] } }],
    ["an argument that is not there", { arguments: { command: "." } }],
    ["one of two conditions", { tools: ["rmm_*"], doors: ["a2a"] }],
    ["fewer services", { blast_radius_over: 4 }],
    ["a rate that is kept to", { rate_over: { calls: 3, seconds: 60 } }],
  ];
  for (const [what, when] of misses) {
    it(`does not speak of ${what}`, async () => assert.equal(await decide(when), false));
  }

  it("sees an argument through what can't be seen, other forms of letters, and case where it says so", async () => {
    const text = (command: string) => ({ input: { body: { command } } });
    const drop = { arguments: { "body.command": "drop" } };
    for (const command of ["drop", "d\u200brop", "ｄｒｏｐ", "dr\u00adop", "d\u202erop"]) {
      assert.equal(await decide(drop, text(command)), true, command);
    }
    assert.equal(await decide(drop, text("DROP")), false);
    assert.equal(await decide({ arguments: { "body.command": "(?i)drop" } }, text("DROP")), true);
    assert.equal(
      await decide({ arguments: { "body.command": "d\u200brop" } }, text("d\u200brop")),
      true,
    );
  });

  it("allows by an argument only where all of it fits, however it is read", async () => {
    const allows = async (command: unknown) => {
      const when = { arguments: { "body.command": "^report-[a-z]+$" } };
      const { rules } = readGovernancePolicy({ rules: [{ name: "own", when, then: "allow" }] });
      return (await ruleFor(rules, { ...CALL, input: { body: { command } } }))?.name === "own";
    };
    assert.equal(await allows("report-daily"), true);
    assert.equal(await allows(["report-daily", "report-weekly"]), true);
    assert.equal(await allows(["report-daily", "wipe"]), false);
    assert.equal(await allows("report-dai\u200bly"), false);
    assert.equal(await allows([]), false);
    assert.equal(await allows(`report-${"a".repeat(20_000)}`), false);
  });

  it("comes to an end with any pattern, and restricts where a text is too long to be held against it", async () => {
    const endless = ["^(a+)+$", "^(a|a)*$", "^(.*a){20}$", "(x+x+)+y"];
    const near = { input: { body: { command: `${"a".repeat(5_000)}!${"x".repeat(5_000)}` } } };
    for (const pattern of endless) {
      assert.equal(await decide({ arguments: { "body.command": pattern } }, near), false, pattern);
    }
    const long = { input: { body: { command: Array(3).fill("b".repeat(9_000)) } } };
    assert.equal(await decide({ arguments: { "body.command": "a" } }, long), true);
    const names = { names: ["a".repeat(200)] };
    assert.equal(await decide({ tools: [`${"*a".repeat(99)}*b`] }, names), false);
    assert.equal(await decide({ tools: [`a${"*a".repeat(99)}`] }, names), true);
  });

  it("is refused with words where it needs more than linear time", () => {
    const refused: readonly (readonly [string, RegExp])[] = [
      ["(?=a)b", /looking ahead or behind can't be done in linear time/],
      ["(?<!a)b", /looking ahead or behind/],
      ["(a)\\1", /referring back/],
      ["(?:.{1000}){3}", /repeat/],
      [".{900}".repeat(3), /it comes to \d+ steps, and may have 2000/],
      ["\\u0041", /write the character itself/],
      ["(", /Expected a regular expression: missing closing \)/],
    ];
    for (const [pattern, why] of refused) {
      const rules = [{ name: "a", when: { arguments: { x: pattern } }, then: "deny" }];
      assert.throws(() => readGovernancePolicy({ rules }), why, pattern);
    }
  });

  it("counts only calls that all else fits", async () => {
    let counted = 0;
    const isRateOver = () => Promise.resolve(++counted > 0);
    const rate_over = { calls: 3, seconds: 60 };
    assert.equal(await decide({ tools: ["other"], rate_over }, { isRateOver }), false);
    assert.equal(await decide({ tools: ["rmm_*"], rate_over }, { isRateOver }), true);
    assert.equal(counted, 1);
  });

  it("of a service that the graph does not know reaches nothing that could be counted", async () => {
    const blastRadius = () => Promise.resolve(null);
    assert.equal(await decide({ blast_radius_over: 0 }, { blastRadius }), false);
  });

  it("knows nights, zones and the day on which a night began", () => {
    const night = { from: "22:00", to: "06:00", zone: "UTC" };
    const at = (time: string) => new Date(`2026-07-04T${time}:00Z`); // a Saturday
    assert.equal(isWithinHours({ ...night, days: ["fri"] }, at("05:59")), true);
    assert.equal(isWithinHours({ ...night, days: ["sat"] }, at("05:59")), false);
    assert.equal(isWithinHours(night, at("06:00")), false);
    assert.equal(isWithinHours({ ...night, zone: "Europe/Vienna" }, at("20:30")), true);
  });

  it("that asks people passes by what they decide by; one that denies does not", async () => {
    const rules = (then: string) => readGovernancePolicy({ rules: [{ name: "own", then }] }).rules;
    const approving = { ...CALL, names: ["approvals.approve"], door: "rest" } as const;
    const control = { ...approving, humanControl: true };
    const by = async (then: string) => (await ruleFor(rules(then), control))?.name;
    assert.equal(await by("needs_approval"), undefined);
    assert.equal(await by("deny"), "own");
    assert.equal((await ruleFor(rules("needs_approval"), approving))?.name, "own");
  });

  it("is refused where it is wrong, with what would be right", () => {
    const refused: readonly (readonly [unknown, RegExp])[] = [
      [{ rules: [{ name: "a", then: "maybe" }] }, /rules\.0\.then/],
      [
        { rules: [{ name: "a", when: { arguments: { x: "(" } }, then: "deny" }] },
        /regular expression/,
      ],
      [
        { rules: [{ name: "a", when: { hours: { from: "9", to: "10:00" } }, then: "deny" }] },
        /22:30/,
      ],
      [{ rules: [{ name: "key-decides", then: "deny" }] }, /two of the name key-decides/],
      [{ rule: [] }, /rule/],
    ];
    for (const [file, why] of refused) assert.throws(() => readGovernancePolicy(file), why);
  });

  it("is refused with its line and its name, where a file has it", () => {
    const rule = "rules:\n  - name: own\n    then: deny\n";
    const refused: readonly (readonly [string, RegExp])[] = [
      [
        `${rule}    when:\n      tool:\n        - x\n`,
        /^line 5: rule own: when\.tool: There is no/,
      ],
      [
        `${rule}    when:\n      hours:\n        from: "9"\n        to: "10:00"\n`,
        /^line 6: .*22:30/,
      ],
      [
        `${rule}  - { name: own, then: allow }\n`,
        /^line 4: rule own: There are two of the name own/,
      ],
      [`${rule}  - then: allow\n`, /^line 4: rule 2: name: /],
      [`${rule}max_waiting: 3\n`, /^line 4: max_waiting: There is no such field/],
      [`${rule}  then: deny\n`, /^line 4: /],
      [
        "rules:\n  - { name: own, when: { keys: [1234567812345678] }, then: deny }\n",
        /^line 2: .*received number; put it in quotes/,
      ],
      ["deny everything", /^line 1: /],
    ];
    for (const [text, message] of refused) {
      assert.throws(() => readGovernanceFile(text), { message });
    }
    assert.equal(readGovernanceFile(rule).policy.rules.length, 1);
    assert.equal(readGovernanceFile("").policy.rules.length, 0);
  });
});
