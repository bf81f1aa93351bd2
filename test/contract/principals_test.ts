import assert from "node:assert/strict";
import { isSamePrincipal } from "../../contract/mod.ts";

describe("isSamePrincipal()", () => {
  it("ignores case, spaces, width, composition and invisible characters", () => {
    const variants = ["Night-Agent", " night-agent ", "night\u200b-agent", "ｎight-agent", "ni\u00adght-agent"];
    for (const name of variants) assert.ok(isSamePrincipal(name, "night-agent"), JSON.stringify(name));
    assert.ok(isSamePrincipal("Zoe\u0308  Groß", "ZOË\u00a0GROSS"));
    assert.ok(isSamePrincipal("Zoe\u200d\u0308", "Zo\u00eb"), "also inside a composed letter");
    assert.ok(!isSamePrincipal("night-agent", "day-agent"));
  });
});
