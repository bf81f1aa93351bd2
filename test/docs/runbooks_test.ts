import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { ROOT } from "../../config.ts";
import { shipped } from "../runbooks/_runbook.ts";

describe("docs/runbooks.md", () => {
  it("has a schema that fits every runbook that ships, and refuses one that is wrong", () => {
    const fits = new Ajv2020({ strict: false }).compile(
      JSON.parse(readFileSync(join(ROOT, "docs", "runbook.schema.json"), "utf8")),
    );
    for (const { runbook } of shipped.runbooks) {
      const document: Record<string, unknown> = parse(
        readFileSync(join(ROOT, "runbooks", "shipped", `${runbook}.yaml`), "utf8"),
      );
      assert.ok(fits(document), `${runbook}: ${JSON.stringify(fits.errors)}`);
      assert.ok(!fits({ ...document, version: "one" }));
      assert.ok(!fits({ ...document, steps: [] }));
    }
  });
});
