import assert from "node:assert/strict";
import { setGovernance } from "../_governance.ts";
import { openAgent, type TestAgent } from "./_agent.ts";
import { createDiskWiper } from "./_disk_wiper.ts";
import type { Json } from "./_platform.ts";

describe("a change freeze of the calendar", () => {
  const { operation, runs } = createDiskWiper();
  let agent: TestAgent;
  before(async () => {
    agent = await openAgent([operation]);
    await setGovernance(agent.people.store, {
      rules: [{ name: "wipers", when: { tools: ["wipe_disk"] }, then: "allow" }],
    });
  });
  after(() => agent?.people.stop());

  it("has a person asked about a change that a rule allows, and says by which event and until when", async () => {
    const { people } = agent;
    const wipe = (disk: string) => agent.callGoverned("wipe_disk", { disk });
    await agent.call("wipe_disk", { disk: "sda" });
    assert.equal(runs.length, 1);

    const booked = await people.call("POST", "/v1/calendar/events", "ann", {
      title: "Year-end closing",
      kind: "freeze",
      start: new Date(Date.now() - 60_000).toISOString(),
      duration_minutes: 60,
    });
    assert.equal(booked.status, 200, JSON.stringify(booked.body));
    const { event_id, end } = booked.body;
    const { decision, rule, reasons, approval_id } = await wipe("sdb");
    assert.deepEqual([decision, rule], ["needs_approval", "guardrails"]);
    const until = new Date(end).toISOString();
    assert.ok(
      reasons.some((reason: string) =>
        reason.includes(`Changes are frozen until ${until} by ${event_id}: Year-end closing`)
      ),
      JSON.stringify(reasons),
    );
    assert.equal(runs.length, 1);
    const opened = await agent.call("itsm_create_ticket", { title: "Printer jams" });
    assert.ok(!opened.isError, "writing it down changes nothing");

    await agent.decide(approval_id, "approve");
    assert.equal((await agent.waitForEnd(approval_id) as Json).state, "done");
    assert.equal(runs.length, 2);

    const ended = await people.call("DELETE", `/v1/calendar/events/${event_id}`, "ann");
    assert.equal(ended.status, 200);
    await agent.call("wipe_disk", { disk: "sdc" });
    assert.equal(runs.length, 3);
  });
});
