import assert from "node:assert/strict";
import { z } from "zod";
import type { Platform } from "../../calls/mod.ts";
import { defineOperation } from "../../contract/mod.ts";
import { setGovernance } from "../_governance.ts";
import { openAgent, type TestAgent } from "./_agent.ts";
import { createDiskWiper } from "./_disk_wiper.ts";
import type { Json } from "./_platform.ts";

/** A tool that changes something unless it only looks. */
const inspectDisk = defineOperation<Platform>()({
  name: "test.inspect",
  summary: "Inspect a disk, and repair it on request",
  group: "test",
  effect: "run",
  access: "key",
  input: z.object({ repair: z.boolean() }),
  output: z.object({ inspected: z.boolean() }),
  tool: { inspect_disk: ["full"] },
  rest: { test_inspect: "POST /v1/test/inspect" },
  governance: {
    rule: "acts-on-the-outside",
    changes: ({ repair }) => Promise.resolve(repair),
  },
  example: { input: { repair: false }, output: { inspected: true } },
  run: () => Promise.resolve({ inspected: true }),
});

describe("a change freeze of the calendar", () => {
  const { operation, runs } = createDiskWiper();
  let agent: TestAgent;
  before(async () => {
    agent = await openAgent([operation, inspectDisk]);
    const tools = ["wipe_disk", "inspect_disk", "itsm_list_tickets"];
    await setGovernance(agent.people.store, {
      rules: [{ name: "agents", when: { tools }, then: "allow" }],
    });
  });
  after(() => agent?.people.stop());

  it("holds no call that changes nothing", async () => {
    const { people } = agent;
    const { body: { event_id } } = await people.call("POST", "/v1/calendar/events", "ann", {
      title: "Year-end closing",
      kind: "freeze",
      start: new Date(Date.now() - 60_000).toISOString(),
      duration_minutes: 60,
    });
    const listed = await agent.call("itsm_list_tickets", { status: "open" });
    assert.ok(Array.isArray((listed.structuredContent as Json).tickets), JSON.stringify(listed));
    const looked = await agent.call("inspect_disk", { repair: false });
    assert.deepEqual((looked.structuredContent as Json).inspected, true, JSON.stringify(looked));
    const { decision } = await agent.callGoverned("inspect_disk", { repair: true });
    assert.equal(decision, "needs_approval");
    await people.call("DELETE", `/v1/calendar/events/${event_id}`, "ann");
  });

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
