import assert from "node:assert/strict";
import {
  desiredFirewall,
  hashShieldPolicy,
  readShieldPolicy,
  shippedShieldPolicy,
} from "../../../judgement/shield/mod.ts";

const shipped = shippedShieldPolicy();
const OWN =
  "{ id: ssh-root, title: No root, severity: low, check: { sshd: { permit_root_login: ['no'] } } }";

describe("readShieldPolicy()", () => {
  it("is what ships where a file is empty", () => {
    assert.deepEqual(readShieldPolicy(""), shipped);
    assert.equal(hashShieldPolicy(readShieldPolicy("")), hashShieldPolicy(shipped));
  });

  it("adds policies, replaces those of the same id, and leaves out what it names", () => {
    const text = `policies: [${OWN}]\nwithout: [disk-encryption]\nstale_after_hours: 2\n`;
    const { policies, stale_after_hours } = readShieldPolicy(text);
    assert.equal(policies.length, shipped.policies.length - 1);
    assert.ok(!policies.some(({ id }) => id === "disk-encryption"));
    assert.equal(policies.find(({ id }) => id === "ssh-root")?.title, "No root");
    assert.equal(stale_after_hours, 2);
  });

  it("has rules of a firewall by tenant", () => {
    const policy = readShieldPolicy('firewall:\n  acme: "chain a { }"\n  "*": "chain b { }"\n');
    assert.equal(desiredFirewall(policy, "acme"), "chain a { }");
    assert.equal(desiredFirewall(policy, "other"), "chain b { }");
    assert.equal(desiredFirewall(policy, "constructor"), "chain b { }");
    assert.equal(desiredFirewall(shipped, "acme"), undefined);
  });

  for (
    const [about, text, message] of [
      [
        "an unknown check",
        "policies:\n  - { id: a, title: A, severity: low, check: { x: 1 } }",
        /line 2/,
      ],
      ["an unknown field", "policy: []", /line 1: policy: unknown field/],
      [
        "two policies of an id",
        `policies:\n  - ${OWN}\n  - ${OWN}`,
        /line 3: there is another policy ssh-root/,
      ],
      [
        "an exception that names nothing",
        "without:\n  - nothing",
        /line 2: there is no shipped policy nothing/,
      ],
      [
        "rules that leave the agent's table",
        'firewall: { a: "chain a { } } table inet b {" }',
        /Expected chains/,
      ],
      ["rules that do not end", 'firewall: { a: "chain a {" }', /Expected chains/],
    ] as const
  ) {
    it(`refuses ${about}, and names the line`, () => {
      assert.throws(() => readShieldPolicy(text), message);
    });
  }

  it("does not take braces in comments and texts for rules", () => {
    const rules = 'chain a {\n  # }\n  tcp dport 22 log prefix "}" accept\n}\n';
    const text = `firewall:\n  a: |\n${rules.replace(/^/gm, "    ")}`;
    assert.match(readShieldPolicy(text).firewall.a!, /^chain a \{\n/);
  });
});
