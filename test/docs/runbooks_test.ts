import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { ROOT } from "../../config.ts";
import { loadRunbooks, SHIPPED_RUNBOOKS } from "../../judgement/runbooks/mod.ts";

describe("docs/runbooks.md", () => {
  it("has a schema that accepts every shipped runbook and refuses wrong ones", () => {
    const accepts = new Ajv2020({ strict: false }).compile(
      JSON.parse(readFileSync(join(ROOT, "docs", "runbook.schema.json"), "utf8")),
    );
    for (const { runbook } of loadRunbooks(SHIPPED_RUNBOOKS).runbooks) {
      const document: Record<string, unknown> = parse(
        readFileSync(join(SHIPPED_RUNBOOKS, `${runbook}.yaml`), "utf8"),
      );
      assert.ok(accepts(document), `${runbook}: ${JSON.stringify(accepts.errors)}`);
      assert.ok(!accepts({ ...document, version: "one" }));
      assert.ok(!accepts({ ...document, steps: [] }));
    }
  });
});
