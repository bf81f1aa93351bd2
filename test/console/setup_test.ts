import assert from "node:assert/strict";
import { openPeople, type People } from "../api/_people.ts";
import { type ConsoleTab, openConsole, SCHEMES, WIDTHS } from "./_console.ts";

describe("the console's page of the setup", () => {
  let people: People;
  let tab: ConsoleTab;
  before(async () => {
    people = await openPeople();
    tab = await openConsole(people);
    await tab.signIn("admin");
  });
  after(async () => {
    await tab?.close();
    await people?.stop();
  });

  it("runs a drill, and shows what was healed as its proof", async () => {
    await tab.open("/console/setup", /0 of 5 steps/);
    await tab.press("Run a drill");
    await tab.shows(/INC-[0-9a-f]{12} was healed after \d/);
    await tab.shows(/1 of 5 steps/);
  });

  it("gives an agent's settings once, and shows its first call as the proof", async () => {
    await tab.open("/console/setup", /Connect an AI agent/);
    await tab.press("Issue a key for an agent");
    const text = await tab.shows(/"Authorization": "Bearer slp_partner_/);
    assert.match(text, /:8081\/mcp"/);
    const agent = await people.agent();
    await agent.callTool({ name: "itsm_list_tickets", arguments: {} });
    await tab.open("/console/setup", /agent called itsm_list_tickets/);
    assert.doesNotMatch(await tab.shows(/Connect an AI agent/), /slp_partner_/);
  });

  it("shows the platform's parts, integrations and flags", async () => {
    const text = await tab.open("/console/setup", /Flags[^]*read_only/);
    assert.match(text, /postgresql is well/);
    assert.match(text, /Resolved incidents/);
    assert.match(text, /Integrations/);
  });

  for (const scheme of SCHEMES) {
    it(`has no barriers, and fits on a phone and a desk, ${scheme}`, async () => {
      await tab.page.emulateMediaFeatures([{ name: "prefers-color-scheme", value: scheme }]);
      for (const width of WIDTHS) {
        await tab.page.setViewport({ width, height: 800 });
        await tab.open("/console/setup", /read_only/);
        assert.deepEqual(await tab.barriers(), [], `at ${width}`);
      }
    });
  }
});
