import assert from "node:assert/strict";
import { samePrincipal } from "../../contract/mod.ts";

describe("names of who holds a key", () => {
  it("are one holder's, however they are spelled, and whatever is hidden in them", () => {
    const spelled = ["Night-Agent", " night-agent ", "night\u200b-agent", "ｎight-agent", "ni\u00adght-agent"];
    for (const name of spelled) assert.ok(samePrincipal(name, "night-agent"), JSON.stringify(name));
    assert.ok(samePrincipal("Zoe\u0308  Groß", "ZOË\u00a0GROSS"));
    assert.ok(samePrincipal("Zoe\u200d\u0308", "Zo\u00eb"), "also where what is hidden parts a letter");
    assert.ok(!samePrincipal("night-agent", "day-agent"));
  });
});
