import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { readGovernancePolicy } from "../../calls/governance/mod.ts";
import { ROOT } from "../../config.ts";
import { DEFAULT_POLICY, readPolicy } from "../../judgement/guard/mod.ts";
import { readShieldPolicy } from "../../judgement/shield/mod.ts";

describe("the policies that the docs show", () => {
  it("are accepted in docs/governance.md", () => {
    assert.equal(readGovernancePolicy(readExample("governance.md")).rules.length, 5);
  });

  it("are accepted in docs/guardrails.md, and have the default bounds", () => {
    const { bounds } = readPolicy(readExample("guardrails.md"));
    assert.deepEqual(bounds, DEFAULT_POLICY.bounds);
  });

  it("are accepted in docs/shield.md", () => {
    const { firewall } = readShieldPolicy(readText("shield.md"));
    assert.match(firewall.platform!, /^chain input \{\n/);
  });
});

function readExample(page: string): unknown {
  return parse(readText(page));
}

function readText(page: string): string {
  const text = readFileSync(join(ROOT, "docs", page), "utf8");
  return /```yaml\n(.*?)```/s.exec(text)![1]!;
}
