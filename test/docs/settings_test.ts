import assert from "node:assert/strict";
import { page, pageWithSettings } from "../../docs/settings.ts";

/** The formatter sets columns, so only what is between the bars counts. */
const words = (text: string) => text.split(/[\s|-]+/).join(" ");

describe("docs/operating.md", () => {
  it("lists every setting as the schema has it; else run: npx tsx docs/settings.ts", () => {
    assert.equal(words(page()), words(pageWithSettings(page())));
  });
});
