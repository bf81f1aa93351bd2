import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import {
  addStop,
  listTestServiceNames,
  listTickets,
  putService,
  removeStop,
  type Stop,
} from "../../store/mod.ts";
import { testFolder } from "../_run.ts";
import { createServiceFinding } from "../../detection/mod.ts";
import { type Finding, progressQuery, TASK_QUEUE, WORKFLOW } from "../../domain/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { existsSync } from "node:fs";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { WorkflowFailedError } from "@temporalio/client";
import { STOPPABLE_NAMES } from "../../activities/stops.ts";
import { operations } from "../../operations/mod.ts";
import { openLoop, type TestLoop, type Watch } from "./_loop.ts";
import { countingProgram, runbookStep, writeRunbooks } from "./_runbooks.ts";
import { createApprover, vote } from "./_people.ts";
import { eventually } from "../_time.ts";
import { readTicketRecord } from "./_ticket_record.ts";
import { type BrokenService, startBrokenService } from "./_broken_service.ts";

const ALL: Stop = { kind: "all", name: "", reason: "an intruder is in the house" };

describe("a switch", () => {
  let loop: TestLoop;
  let watch: Watch = () => {};
  let ran: Awaited<ReturnType<typeof countingProgram>>;
  let undid: Awaited<ReturnType<typeof countingProgram>>;
  const victims: BrokenService[] = [];
  const set: Stop[] = [];

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
    for (const stop of set.splice(0)) await removeStop(loop.store.asPlatform(), stop);
  });
  after(async () => {
    for (const victim of victims) await victim.remove();
    await loop?.stop();
  });

  async function stop(what: Stop): Promise<void> {
    set.push(what);
    await addStop(loop.store.asPlatform(), what);
  }
  const resume = (what: Stop) => removeStop(loop.store.asPlatform(), what);

  async function broken(prefix: string, more: Partial<Finding> = {}) {
    const place = { store: loop.store, dataDir: loop.config.dataDir };
    const name = `${prefix}-${randomBytes(3).toString("hex")}`;
    const victim = await startBrokenService(place, { name });
    victims.push(victim);
    return { ...victim, finding: { ...createServiceFinding(victim.service, "refused"), ...more } };
  }
  const start = ({ finding }: { finding: Finding }) =>
    loop.client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
  const story = (ticketId: string | null) => readTicketRecord(loop.store, ticketId!);

  /** What is to be seen of a ticket once something has happened in it. */
  const storyWith = (run: Awaited<ReturnType<typeof start>>, move: string) =>
    eventually(async () => {
      const { ticket_id } = await run.query(progressQuery);
      const seen = ticket_id === null ? undefined : await story(ticket_id);
      return seen?.moves.includes(move) ? seen : undefined;
    });

  for (
    const what of [
      ALL,
      { kind: "key", name: "ab".repeat(8), reason: "it was stolen" },
      { kind: "tool", name: "itsm_run_loop", reason: "it repairs too much" },
    ] as const satisfies readonly Stop[]
  ) {
    it(`holds a repair that nobody has to approve, by ${what.kind}, and lets it go on`, async () => {
      await stop(what);
      const victim = await broken("held", { requested_by: `key:${"ab".repeat(8)}` });
      const run = await start(victim);
      const { ticket, receipts, effects } = await storyWith(run, "held");
      assert.deepEqual([ticket.status, ticket.phase], ["open", "diagnosed"]);
      assert.deepEqual(effects, [], "not even intended");
      const held = await eventually(async () =>
        receipts.find(({ category }) => category === "repair_held") ??
          (await story(ticket.ticket_id)).receipts.find(({ category }) =>
            category === "repair_held"
          )
      );
      assert.deepEqual([held.outcome, held.details.stop], ["not_done", what.kind]);
      assert.ok(!JSON.stringify(held).includes(what.reason), "the reason stays private");
      assert.equal(await victim.starts(), 1);

      await resume(what);
      const result = await run.result();
      assert.equal(result.outcome, "sealed");
      assert.equal(await victim.starts(), 2);
      const { moves } = await story(result.ticket_id);
      assert.deepEqual(moves, [
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

  it("holds no repair where it stops another key, or another tool", async () => {
    await stop({ kind: "key", name: "cd".repeat(8), reason: "another" });
    await stop({ kind: "tool", name: "itsm_create_ticket", reason: "another" });
    const result = await (await start(await broken("free"))).result();
    assert.equal(result.outcome, "sealed");
  });

  it("holds what people approve meanwhile, and repairs nothing that has healed until it goes on", async () => {
    await stop(ALL);
    const victim = await broken("asks");
    const run = await start(victim);
    const approvalId = await eventually(async () =>
      (await run.query(progressQuery)).approval_id ?? undefined
    );
    await vote(loop, approvalId, "approved", await createApprover(loop.store, "ann"));
    await storyWith(run, "held");
    assert.equal(await victim.starts(), 1);

    const healthy = join(victim.folder, "healthy");
    await writeFile(healthy, "");
    await putService(loop.store.asPlatform(), {
      ...victim.service,
      check: { command: ["test", "-e", healthy] },
    });
    await resume(ALL);
    const result = await run.result();
    assert.equal(result.outcome, "sealed");
    assert.equal(await victim.starts(), 1);
    const { ticket, effects } = await story(result.ticket_id);
    assert.equal(ticket.resolution, "Found healthy before anything was done");
    assert.deepEqual(effects, []);
    await rm(healthy);
  });

  it("leaves a repair that is held to people when its run is cancelled: proven not done", async () => {
    await stop(ALL);
    const victim = await broken("cancelled");
    const run = await start(victim);
    const { ticket } = await storyWith(run, "held");
    await run.cancel();
    await assert.rejects(run.result());
    const { ticket: { escalated }, receipts } = await story(ticket.ticket_id);
    assert.equal(escalated, true);
    const last = receipts.at(-1)!;
    assert.deepEqual(
      [last.outcome, last.details.reason, last.details.effect, last.details.effect_code],
      ["escalated", "cancelled", "not_done", "stopped"],
    );
    assert.equal(await victim.starts(), 1);
  });

  it("leaves a repair as not done to people when its run is cancelled as it looks whether it is needed", async () => {
    await stop(ALL);
    const run = await start(await broken("looked"));
    const { ticket } = await storyWith(run, "held");
    watch = async (moment, activity) => {
      if (moment === "before" && activity === "detect") await run.cancel();
    };
    await resume(ALL);
    await assert.rejects(run.result());
    const { receipts } = await story(ticket.ticket_id);
    const { outcome, details } = receipts.at(-1)!;
    assert.deepEqual(
      [outcome, details.reason, details.effect, details.effect_code],
      ["escalated", "cancelled", "not_done", "stopped"],
    );
  });

  it("holds the undoing of what did not help, and lets it go on", async () => {
    watch = async (moment, activity) => {
      if (moment === "before" && activity === "undo" && set.length === 0) await stop(ALL);
    };
    const run = await start(await broken("in-vain"));
    const { ticket } = await storyWith(run, "undo_held");
    assert.deepEqual([await ran.times(), await undid.times()], [1, 0]);
    await resume(ALL);
    await storyWith(run, "undone");
    assert.equal(await undid.times(), 1);
    await run.cancel();
    await assert.rejects(run.result());
    const { receipts } = await story(ticket.ticket_id);
    assert.ok(receipts.some(({ category }) => category === "undo_held"));
  });

  for (
    const [type, prefix, scenario] of [
      [WORKFLOW.itsmTest, "test", "crash"],
      [WORKFLOW.attackSimulation, "attack", "ransomware"],
    ] as const
  ) {
    it(`lets no drill begin that was started before it was set: ${type}`, async () => {
      watch = async (moment, activity) => {
        const begins = activity === "breakTestService" || activity === "attackSandbox";
        if (moment === "before" && begins && set.length === 0) await stop(ALL);
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
          /^Cannot begin the drill, as everything is stopped: an intruder is in the house$/,
        );
        return true;
      });
      const after = await listTickets(loop.store.asPlatform(), { limit: 200 });
      assert.equal(after.length, before.length);
      assert.ok(!(await listTestServiceNames(loop.store.asPlatform())).includes(`${prefix}-${id}`));
      assert.ok(!existsSync(join(loop.config.dataDir, "test-services", `${prefix}-${id}`)));
    });
  }

  it("is held against what the platform does by every name that it can be asked for by", () => {
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
