import assert from "node:assert/strict";
import { type Finding, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { putService } from "../../store/cmdb/mod.ts";
import { listTicketEvents, takeTicket } from "../../store/incidents/mod.ts";
import type { itsmSweep } from "../../workflows/mod.ts";
import { brokenLoops } from "./_broken_loops.ts";
import { openLoop, type TestLoop } from "./_loop.ts";

describe("a fault that was left to people", () => {
  let loop: TestLoop;
  const loops = brokenLoops(() => loop);
  before(async () => {
    loop = await openLoop();
  });
  after(async () => {
    await loops.remove();
    await loop?.stop();
  });

  let sweeps = 0;
  const sweep = async () =>
    await loop.client.workflow.execute<typeof itsmSweep>(WORKFLOW.itsmSweep, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `sweep-${++sweeps}`,
      args: [],
    });
  const endOf = (finding: Finding) =>
    loop.client.workflow.getHandle(`loop-${finding.fingerprint}`).result();

  it("is tried again once by the next sweep after its service's entry has changed, and the ticket says so", async () => {
    const faulty = await loops.broken("listed");
    const { service, finding } = faulty;
    const db = loop.store.asPlatform();
    await putService(db, { ...service, watched: true, restart: null });
    const first = await (await loops.start(faulty)).result();
    assert.equal(first.outcome, "escalated");

    assert.deepEqual((await sweep()).loops, [], "nothing has changed");
    await putService(db, { ...service, watched: true, restart: { command: ["false"] } });
    assert.deepEqual((await sweep()).loops, [`loop-${finding.fingerprint}`]);
    const again = await endOf(finding);
    assert.deepEqual([again.outcome, again.ticket_id], ["escalated", first.ticket_id]);
    assert.deepEqual((await sweep()).loops, [], "once a change");

    await putService(db, { ...service, watched: true });
    assert.deepEqual((await sweep()).loops, [`loop-${finding.fingerprint}`]);
    assert.equal((await endOf(finding)).outcome, "sealed");
    const events = await listTicketEvents(db, first.ticket_id!);
    assert.deepEqual(
      events.filter(({ kind }) => kind === "taken_over").map(({ data }) => data.because),
      ["the service's entry has changed", "the service's entry has changed"],
    );
  });

  it("is not tried again while somebody has taken its ticket", async () => {
    const faulty = await loops.broken("taken");
    const { service } = faulty;
    const db = loop.store.asPlatform();
    await putService(db, { ...service, watched: true, restart: null });
    const { ticket_id } = await (await loops.start(faulty)).result();
    await takeTicket(db, ticket_id!, "ann");
    await putService(db, { ...service, watched: true });
    assert.deepEqual((await sweep()).loops, []);
  });
});
