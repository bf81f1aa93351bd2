import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WorkflowFailedError } from "@temporalio/client";
import { STOPPABLE_NAMES } from "../../activities/mod.ts";
import { progressQuery, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { operations } from "../../operations/mod.ts";
import { addStop, removeStop, type Stop } from "../../store/calls/mod.ts";
import { listTickets } from "../../store/incidents/mod.ts";
import { listTestServiceNames, putService } from "../../store/cmdb/mod.ts";
import { testFolder } from "../_run.ts";
import { eventually } from "../_time.ts";
import { brokenLoops } from "./_broken_loops.ts";
import { openLoop, type TestLoop, type Watch } from "./_loop.ts";
import { createApprover, vote } from "./_people.ts";
import { countingProgram, runbookStep, writeRunbooks } from "./_runbooks.ts";

const ALL: Stop = { kind: "all", name: "", reason: "there is an intruder" };

describe("a stop", () => {
  let loop: TestLoop;
  let watch: Watch = () => {};
  let ran: Awaited<ReturnType<typeof countingProgram>>;
  let undid: Awaited<ReturnType<typeof countingProgram>>;
  const loops = brokenLoops(() => loop);
  const { broken, start, recordOf, recordWith } = loops;
  const stops: Stop[] = [];

  before(async () => {
    const folder = await testFolder();
    const runbooks = join(folder, "runbooks");
    ran = await countingProgram(folder, "helps-nobody");
    undid = await countingProgram(folder, "takes-it-back");
    await writeRunbooks(runbooks, {
      "ask-first": {
        match: { services: ["asks-*"] },
        needs: ["restart"],
        steps: [
          runbookStep("restart", {
            restart: "service",
            bounds: { within: "2m", ask: "its owner" },
          }),
        ],
      },
      "in-vain": {
        match: { services: ["in-vain-*"] },
        steps: [runbookStep("run", {
          command: { argv: [ran.path] },
          undo: { command: { argv: [undid.path] } },
        })],
      },
    }, [ran.path, undid.path]);
    loop = await openLoop({
      watch: (...seen) => watch(...seen),
      settings: { SEALOOP_RUNBOOKS: runbooks },
    });
  });
  afterEach(async () => {
    watch = () => {};
    for (const stop of stops.splice(0)) await removeStop(loop.store.asPlatform(), stop);
  });
  after(async () => {
    await loops.remove();
    await loop?.stop();
  });

  async function stop(what: Stop): Promise<void> {
    stops.push(what);
    await addStop(loop.store.asPlatform(), what);
  }
  const resume = (what: Stop) => removeStop(loop.store.asPlatform(), what);

  for (
    const what of [
      ALL,
      { kind: "key", name: "ab".repeat(8), reason: "it was stolen" },
      { kind: "tool", name: "itsm_run_loop", reason: "it repairs too much" },
    ] as const satisfies readonly Stop[]
  ) {
    it(`holds back a repair, by ${what.kind}, until it is removed`, async () => {
      await stop(what);
      const faulty = await broken("held", { requested_by: `key:${"ab".repeat(8)}` });
      const run = await start(faulty);
      const { ticket, receipts, effects } = await recordWith(run, "held");
      assert.deepEqual([ticket.status, ticket.phase], ["open", "diagnosed"]);
      assert.deepEqual(effects, [], "not even the intent is recorded");
      const held = await eventually(async () =>
        receipts.find(({ category }) => category === "repair_held") ??
          (await recordOf(ticket.ticket_id)).receipts.find(({ category }) =>
            category === "repair_held"
          )
      );
      assert.deepEqual([held.outcome, held.details.stop], ["not_done", what.kind]);
      assert.ok(!JSON.stringify(held).includes(what.reason), "the reason stays private");
      assert.equal(await faulty.starts(), 1);

      await resume(what);
      const result = await run.result();
      assert.equal(result.outcome, "sealed");
      assert.equal(await faulty.starts(), 2);
      const { events } = await recordOf(result.ticket_id);
      assert.deepEqual(events, [
        "detected",
        "opened",
        "diagnosed",
        "permitted",
        "held",
        "intended",
        "remediated",
        "verified",
        "resolved",
      ]);
    });
  }

  it("does not hold back a repair if it is for another key or tool", async () => {
    await stop({ kind: "key", name: "cd".repeat(8), reason: "another" });
    await stop({ kind: "tool", name: "itsm_create_ticket", reason: "another" });
    const result = await (await start(await broken("free"))).result();
    assert.equal(result.outcome, "sealed");
  });

  it("holds back an approved repair, which is not done if the service has healed meanwhile", async () => {
    await stop(ALL);
    const faulty = await broken("asks");
    const run = await start(faulty);
    const approvalId = await eventually(async () =>
      (await run.query(progressQuery)).approval_id ?? undefined
    );
    await vote(loop, approvalId, "approved", await createApprover(loop.store, "ann"));
    await recordWith(run, "held");
    assert.equal(await faulty.starts(), 1);

    const healthy = join(faulty.folder, "healthy");
    await writeFile(healthy, "");
    await putService(loop.store.asPlatform(), {
      ...faulty.service,
      check: { command: ["test", "-e", healthy] },
    });
    await resume(ALL);
    const result = await run.result();
    assert.equal(result.outcome, "sealed");
    assert.equal(await faulty.starts(), 1);
    const { ticket, effects } = await recordOf(result.ticket_id);
    assert.equal(ticket.resolution, "Found healthy before anything was done");
    assert.deepEqual(effects, []);
    await rm(healthy);
  });

  it("leaves a repair as not done if its run is cancelled meanwhile", async () => {
    await stop(ALL);
    const faulty = await broken("cancelled");
    const run = await start(faulty);
    const { ticket } = await recordWith(run, "held");
    await run.cancel();
    await assert.rejects(run.result());
    const { ticket: { escalated }, receipts } = await recordOf(ticket.ticket_id);
    assert.equal(escalated, true);
    const last = receipts.at(-1)!;
    assert.deepEqual(
      [last.outcome, last.details.reason, last.details.effect, last.details.effect_code],
      ["escalated", "cancelled", "not_done", "stopped"],
    );
    assert.equal(await faulty.starts(), 1);
  });

  it("leaves a repair as not done if its run is cancelled while it probes the service again", async () => {
    await stop(ALL);
    const run = await start(await broken("looked"));
    const { ticket } = await recordWith(run, "held");
    watch = async (moment, activity) => {
      if (moment === "before" && activity === "detect") await run.cancel();
    };
    await resume(ALL);
    await assert.rejects(run.result());
    const { receipts } = await recordOf(ticket.ticket_id);
    const { outcome, details } = receipts.at(-1)!;
    assert.deepEqual(
      [outcome, details.reason, details.effect, details.effect_code],
      ["escalated", "cancelled", "not_done", "stopped"],
    );
  });

  it("holds back the undoing of a repair until it is removed", async () => {
    watch = async (moment, activity) => {
      if (moment === "before" && activity === "undo" && stops.length === 0) await stop(ALL);
    };
    const run = await start(await broken("in-vain"));
    const { ticket } = await recordWith(run, "undo_held");
    assert.deepEqual([await ran.times(), await undid.times()], [1, 0]);
    await resume(ALL);
    await recordWith(run, "undone");
    assert.equal(await undid.times(), 1);
    await run.cancel();
    await assert.rejects(run.result());
    const { receipts } = await recordOf(ticket.ticket_id);
    assert.ok(receipts.some(({ category }) => category === "undo_held"));
  });

  for (
    const [type, prefix, scenario] of [
      [WORKFLOW.itsmTest, "test", "crash"],
      [WORKFLOW.attackSimulation, "attack", "ransomware"],
    ] as const
  ) {
    it(`stops a drill that was started before: ${type}`, async () => {
      watch = async (moment, activity) => {
        const begins = activity === "breakTestService" || activity === "attackSandbox";
        if (moment === "before" && begins && stops.length === 0) await stop(ALL);
      };
      const id = randomBytes(4).toString("hex");
      const before = await listTickets(loop.store.asPlatform(), { limit: 200 });
      const running = loop.client.workflow.execute(type, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `${prefix}-${id}`,
        args: [{ id, scenario, requested_by: "key:test" }],
      });
      await assert.rejects(running, (error: unknown) => {
        assert.ok(error instanceof WorkflowFailedError);
        assert.match(
          String((error.cause?.cause as Error | undefined)?.message),
          /^Cannot begin the drill, as everything is stopped: there is an intruder$/,
        );
        return true;
      });
      const after = await listTickets(loop.store.asPlatform(), { limit: 200 });
      assert.equal(after.length, before.length);
      assert.ok(!(await listTestServiceNames(loop.store.asPlatform())).includes(`${prefix}-${id}`));
      assert.ok(!existsSync(join(loop.config.dataDir, "test-services", `${prefix}-${id}`)));
    });
  }

  it("applies to repairs and drills by every name of their operations", () => {
    const named = { repair: "itsm.loop", test: "itsm.test", attack: "attacks.simulate" } as const;
    for (const [what, name] of Object.entries(named)) {
      const one = operations.find((operation) => operation.name === name)!;
      const names = [name, ...Object.keys(one.rest ?? {}), ...Object.keys(one.tool ?? {})];
      assert.deepEqual(
        [...STOPPABLE_NAMES[what as keyof typeof STOPPABLE_NAMES]].sort(),
        names.sort(),
      );
    }
  });
});
