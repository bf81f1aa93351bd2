import assert from "node:assert/strict";
import { type PastCall, readGovernanceFile, replayRules } from "../../calls/governance/mod.ts";
import { registry } from "../../operations/mod.ts";

const CALL: PastCall = {
  id: "GOV-000000000001",
  at: new Date("2026-07-01T12:00:00Z"),
  tenant: "acme",
  keyId: "1f0c7b5a9d3e4820",
  principal: "night-agent",
  tier: "partner",
  mayApprove: false,
  door: "mcp",
  tool: "itsm_create_ticket",
  operation: registry.get("tickets.create")!,
  input: undefined,
};

async function replay(policy: string, calls: readonly Partial<PastCall>[]) {
  const { rules } = readGovernanceFile(policy).policy;
  const past = calls.map((call) => ({ ...CALL, ...call }));
  const outcomes = await replayRules(past, rules, "production", performance.now() + 60_000);
  return outcomes.map((all) => all.map(({ rule, decision }) => `${decision} by ${rule}`));
}

describe("replayRules()", () => {
  it("decides by the first rule that matches, else by the shipped one", async () => {
    const policy = `
      rules:
        - { name: agents, when: { doors: [mcp], principals: ["night-*"] }, then: needs_approval }
        - { name: others, when: { tiers: [free] }, then: deny }`;
    assert.deepEqual(await replay(policy, [{}, { door: "rest" }, { door: "rest", tier: "free" }]), [
      ["needs_approval by agents"],
      ["allow by tickets-and-loops"],
      ["deny by others"],
    ]);
  });

  it("counts a call over REST by a key that may approve as one of the approvals", async () => {
    const policy = "rules: [{ name: people, then: needs_approval }]";
    const caller = { door: "rest", mayApprove: true } as const;
    assert.deepEqual(await replay(policy, [caller, { door: "rest" }]), [
      ["allow by people"],
      ["needs_approval by people"],
    ]);
  });

  it("says what it may have been where arguments are not known, and decides where they are", async () => {
    const policy = `
      rules:
        - { name: printers, when: { arguments: { title: "(?i)printer" } }, then: deny }
        - { name: wide, when: { blast_radius_over: 5 }, then: needs_approval }`;
    const unknown = ["deny by printers", "needs_approval by wide", "allow by tickets-and-loops"];
    assert.deepEqual(
      await replay(policy, [{}, { input: { title: "Printer jams" } }, {
        input: { title: "Disk" },
      }]),
      [unknown, ["deny by printers"], unknown.slice(1)],
    );
  });

  it("decides by the hour of the call, and counts the calls of a span", async () => {
    const policy = `
      rules:
        - { name: night, when: { hours: { from: "22:00", to: "06:00" } }, then: deny }
        - { name: slow, when: { rate_over: { calls: 2, seconds: 60 } }, then: deny }`;
    const at = (time: string) => ({ at: new Date(`2026-07-01T${time}Z`) });
    const times = ["05:59:59", "12:00:00", "12:00:10", "12:00:20", "12:02:00"];
    assert.deepEqual((await replay(policy, times.map(at))).flat(), [
      "deny by night",
      "allow by tickets-and-loops",
      "allow by tickets-and-loops",
      "deny by slow",
      "allow by tickets-and-loops",
    ]);
  });

  it("ends in time, with the calls that it has looked at", async () => {
    const { rules } = readGovernanceFile("rules: []").policy;
    assert.deepEqual(await replayRules([CALL], rules, "production", performance.now() - 1), []);
  });
});
