import assert from "node:assert/strict";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { putService } from "../../store/cmdb/mod.ts";
import { getTicket, takeTicket } from "../../store/incidents/mod.ts";
import { listMessages } from "../../store/notices/mod.ts";
import { startEngine, type TestEngine } from "../judgement/engine/_engine.ts";
import { brokenLoops } from "./_broken_loops.ts";
import { openLoop, type TestLoop, type Watch } from "./_loop.ts";

describe("a repair while the engine is killed", () => {
  let loop: TestLoop;
  let engine: TestEngine;
  let watch: Watch = () => {};
  const loops = brokenLoops(() => loop);
  const { broken, start, recordOf, recordWith } = loops;

  before(async () => {
    loop = await openLoop({
      watch: (...seen) => watch(...seen),
      async serve(databaseUrl) {
        engine = await startEngine(databaseUrl);
        return { ...engine, close: engine.kill };
      },
    });
  });
  beforeEach(async () => {
    watch = () => {};
    await engine.kill();
  });
  after(async () => {
    await loops.remove();
    await loop?.stop();
  });

  const calls = async (ticketId: string) => {
    const filter = { kind: "incident.escalated", ticketId } as const;
    return (await listMessages(loop.store.asPlatform(), filter, 10)).messages;
  };

  it("waits, with people told, and is done once the engine is back", async () => {
    const faulty = await broken("unguarded");
    const run = await start(faulty);
    const { ticket } = await recordWith(run, "escalated");
    assert.deepEqual([ticket.status, ticket.escalated], ["open", true]);
    const [message] = await calls(ticket.ticket_id);
    assert.match(message!.text, /The guardrails could not be asked\..*asks them again by itself/);
    assert.equal(await faulty.starts(), 1);

    await engine.start();
    const result = await run.result();
    assert.equal(result.outcome, "sealed");
    assert.equal(await faulty.starts(), 2);
    const { events } = await recordOf(result.ticket_id);
    assert.deepEqual(events, [
      "detected",
      "opened",
      "diagnosed",
      "escalated",
      "guardrails_back",
      "permitted",
      "intended",
      "remediated",
      "verified",
      "resolved",
    ]);
    const after = await getTicket(loop.store.asPlatform(), result.ticket_id!);
    assert.deepEqual([after!.status, after!.escalated], ["resolved", false]);
  });

  it("tells people once, however often it asks in vain, and diagnoses without the engine", async () => {
    const thrice = new Promise<void>((resolve) => {
      let count = 0;
      watch = (moment, activity) => {
        if (moment === "after" && activity === "remediate" && ++count === 3) resolve();
      };
    });
    const faulty = await broken("alone");
    const run = await start(faulty);
    await thrice;
    const { ticket, events, receipts } = await recordWith(run, "escalated");
    assert.equal((await calls(ticket.ticket_id)).length, 1);
    assert.equal(events.filter((kind) => kind === "escalated").length, 1);
    assert.ok(events.includes("diagnosed"));
    assert.equal(receipts.filter(({ category }) => category === "repair_held").length, 1);
    assert.equal(await faulty.starts(), 1);
    await run.cancel();
    await assert.rejects(run.result());
  });

  it("is not done for a service that has healed meanwhile", async () => {
    const faulty = await broken("heals");
    const run = await start(faulty);
    await recordWith(run, "escalated");
    const healthy = join(faulty.folder, "healthy");
    await writeFile(healthy, "");
    await putService(loop.store.asPlatform(), {
      ...faulty.service,
      check: { command: ["test", "-e", healthy] },
    });
    const { outcome, ticket_id } = await run.result();
    assert.equal(outcome, "sealed");
    assert.equal(await faulty.starts(), 1);
    const ticket = await getTicket(loop.store.asPlatform(), ticket_id!);
    assert.equal(ticket!.resolution, "Found healthy before anything was done");
  });

  it("ends when a person takes the incident", async () => {
    const faulty = await broken("taken");
    const run = await start(faulty);
    const { ticket } = await recordWith(run, "escalated");
    assert.ok(await takeTicket(loop.store.asPlatform(), ticket.ticket_id, "ann"));
    assert.equal((await run.result()).outcome, "escalated");
    assert.equal(await faulty.starts(), 1);
  });
});
