import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../../config.ts";
import { generateDocs } from "../../scripts/docs/mod.ts";

describe("the generated parts of the docs", () => {
  it("are up to date; else run: npm run docs", async () => {
    for (const { path, text } of await generateDocs()) {
      assert.equal(readFileSync(join(ROOT, path), "utf8"), text, path);
    }
  });
});
