import assert from "node:assert/strict";
import { join } from "node:path";
import { progressQuery } from "../../contract/domain/mod.ts";
import { bookEvent, cancelBooking } from "../../operations/calendar/booking/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import type { EventKind } from "../../store/calendar/mod.ts";
import { testFolder } from "../_run.ts";
import { asSuperuser } from "../_superuser.ts";
import { eventually } from "../_time.ts";
import { brokenLoops } from "./_broken_loops.ts";
import { openLoop, type TestLoop } from "./_loop.ts";
import { createApprover, vote } from "./_people.ts";
import { runbookStep, writeRunbooks } from "./_runbooks.ts";

const WHO = { actor: "key:test", principal: "ada" };

describe("the calendar", () => {
  let loop: TestLoop;
  const loops = brokenLoops(() => loop);
  const { start, recordOf, recordWith } = loops;
  const broken = () => loops.broken("racked");
  const events: string[] = [];

  before(async () => {
    const runbooks = join(await testFolder(), "runbooks");
    await writeRunbooks(runbooks, {
      "look-first": {
        match: { services: ["watched-*"] },
        steps: [
          runbookStep("look", { wait: { at_least: "1s" } }),
          runbookStep("tell", { notify: { message: "{service} was looked at." } }),
        ],
      },
    });
    loop = await openLoop({ settings: { SEALOOP_RUNBOOKS: runbooks } });
  });
  afterEach(async () => {
    for (const id of events.splice(0)) await cancel(id);
  });
  after(async () => {
    await loops.remove();
    await loop?.stop();
  });

  /** Books an event that has begun a minute ago. */
  async function book(kind: EventKind, forMs: number, services: readonly string[] = []) {
    const event = await loop.store.asPlatform().transaction((trx) =>
      bookEvent(trx, {
        title: "Moving the racks",
        start: new Date(Date.now() - 60_000).toISOString(),
        end: new Date(Date.now() + forMs).toISOString(),
        kind,
        services,
      }, WHO)
    );
    events.push(event.id);
    return event;
  }
  const cancel = (id: string) =>
    loop.store.asPlatform().transaction((trx) => cancelBooking(trx, id, WHO));

  const approvalOf = (run: Awaited<ReturnType<typeof start>>) =>
    eventually(async () => (await run.query(progressQuery)).approval_id ?? undefined);

  it("holds back repairs of the services that a maintenance names, until its end", async () => {
    const faulty = await broken();
    const other = await broken();
    const window = await book("maintenance", 3_600_000, [faulty.service.name]);
    const run = await start(faulty);
    const { ticket } = await recordWith(run, "held");
    assert.equal((await (await start(other)).result()).outcome, "sealed");
    assert.equal(await faulty.starts(), 1);

    const end = Date.now() + 2_000;
    await asSuperuser(loop.store).execute(
      "UPDATE calendar_occurrences SET ends_at = $2 WHERE event_id = $1",
      [window.id, new Date(end).toISOString()],
    );
    const { outcome } = await run.result(); // goes on by itself
    assert.equal(outcome, "sealed");
    assert.ok(Date.now() >= end);
    assert.equal(await faulty.starts(), 2);
    const { receipts } = await recordOf(ticket.ticket_id);
    const held = receipts.find(({ category }) => category === "repair_held")!;
    assert.deepEqual(
      [held.outcome, held.details.stop, held.details.event_id, held.details.until],
      ["not_done", "maintenance", window.id, window.end.toISOString()],
    );
    assert.doesNotMatch(JSON.stringify(receipts), /racks/, "the words stay private");
  });

  it("holds back all repairs by a maintenance that names no service, until it is cancelled", async () => {
    const window = await book("maintenance", 3_600_000);
    const faulty = await broken();
    const run = await start(faulty);
    await recordWith(run, "held");
    await cancel(window.id);
    assert.equal((await run.result()).outcome, "sealed");
  });

  it("has a person asked about each repair during a freeze, and says which and until when", async () => {
    const freeze = await book("freeze", 3_600_000);
    const faulty = await broken();
    const run = await start(faulty);
    const approvalId = await approvalOf(run);
    const approval = await eventually(() => getApproval(loop.store.asPlatform(), approvalId));
    const until = freeze.end.toISOString();
    const reason = `Changes are frozen until ${until} by ${freeze.id}: Moving the racks`;
    assert.ok(JSON.stringify(approval.grounds).includes(reason), JSON.stringify(approval.grounds));
    assert.equal(await faulty.starts(), 1);
    await vote(loop, approvalId, "approved", await createApprover(loop.store, "ann"));
    assert.equal((await run.result()).outcome, "sealed");
  });

  it("does not hold a runbook that changes nothing by a freeze", async () => {
    await book("freeze", 3_600_000);
    const run = await start(await loops.broken("watched"));
    const { events: moves } = await recordWith(run, "remediated");
    assert.ok(moves.includes("permitted") && !moves.includes("approval_needed"), moves.join());
    await run.terminate("The runbook does not repair it, and others ask people");
  });

  it("has a person asked where a freeze begins while a repair that was allowed is held back", async () => {
    const window = await book("maintenance", 3_600_000);
    const faulty = await broken();
    const run = await start(faulty);
    await recordWith(run, "held");
    await book("freeze", 3_600_000);
    await cancel(window.id);
    const approvalId = await approvalOf(run);
    assert.equal(await faulty.starts(), 1);
    await vote(loop, approvalId, "approved", await createApprover(loop.store, "bob"));
    const { outcome, ticket_id } = await run.result();
    assert.equal(outcome, "sealed");
    const { events: moves } = await recordOf(ticket_id);
    assert.deepEqual(
      moves.filter((move) => /permitted|held|approval_needed|intended/.test(move)),
      ["permitted", "held", "approval_needed", "intended"],
    );
  });
});
