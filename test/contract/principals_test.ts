import assert from "node:assert/strict";
import { isSamePrincipal } from "../../contract/mod.ts";

describe("names of who holds a key", () => {
  it("are one holder's, however they are spelled, and whatever is hidden in them", () => {
    const spelled = ["Night-Agent", " night-agent ", "night\u200b-agent", "ｎight-agent", "ni\u00adght-agent"];
    for (const name of spelled) assert.ok(isSamePrincipal(name, "night-agent"), JSON.stringify(name));
    assert.ok(isSamePrincipal("Zoe\u0308  Groß", "ZOË\u00a0GROSS"));
    assert.ok(isSamePrincipal("Zoe\u200d\u0308", "Zo\u00eb"), "also where what is hidden parts a letter");
    assert.ok(!isSamePrincipal("night-agent", "day-agent"));
  });
});
