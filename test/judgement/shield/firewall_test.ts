import assert from "node:assert/strict";
import { fillArguments, loadScripts } from "../../../judgement/catalogue/mod.ts";
import {
  desiredFirewall,
  readShieldPolicy,
  shippedShieldPolicy,
} from "../../../judgement/shield/mod.ts";

const POLICY = `
firewall:
  acme: |
    chain input {
      type filter hook input priority filter; policy accept;
    }
`;

describe("the firewall's remedy", () => {
  const scripts = new Map(loadScripts().map((script) => [script.script, script]));

  it("is given exactly the desired rules, with their lines, as one argument", () => {
    const rules = desiredFirewall(readShieldPolicy(POLICY), "acme")!;
    assert.equal(rules.split("\n").length, 4);
    const argv = fillArguments(scripts.get("firewall-apply")!, { rules });
    assert.deepEqual(argv, ["sealoop-agent", "firewall", rules]);
  });

  it("takes no option in the place of rules, and other scripts take no lines", () => {
    assert.throws(() => fillArguments(scripts.get("firewall-apply")!, { rules: "--within=9" }));
    const restart = scripts.get("service-restart")!;
    assert.throws(() => fillArguments(restart, { unit: "a.service\nb" }));
  });

  it("and those of all policies that ship are scripts of the catalogue", () => {
    const named = shippedShieldPolicy().policies.flatMap(({ remedy_script_id }) =>
      remedy_script_id ?? []
    );
    assert.deepEqual(named.filter((id) => !scripts.has(id)), []);
    assert.ok(named.includes("firewall-apply"));
  });
});
