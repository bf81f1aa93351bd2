import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Ajv2020 } from "ajv/dist/2020.js";
import { parse } from "yaml";
import { ROOT } from "../../config.ts";
import { pageWithRunbooks, published, schemas } from "../../docs/runbooks.ts";
import { shipped } from "../runbooks/_runbook.ts";

/** The formatter sets columns and lines, so only what is between counts. */
const words = (text: string) => text.split(/[\s|-]+/).join(" ");

describe("docs/runbooks.md", () => {
  it("lists every runbook that ships; else run: npx tsx docs/runbooks.ts", () => {
    const page = published("runbooks.md");
    assert.equal(words(page), words(pageWithRunbooks(page)));
  });

  for (const [name, text] of Object.entries(schemas())) {
    it(`stands beside ${name} as it should be; else run: npx tsx docs/runbooks.ts`, () => {
      assert.deepEqual(JSON.parse(published(name)), JSON.parse(text));
    });
  }

  it("has a schema that fits every runbook that ships, and refuses one that is wrong", () => {
    const fits = new Ajv2020({ strict: false }).compile(
      JSON.parse(published("runbook.schema.json")),
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
