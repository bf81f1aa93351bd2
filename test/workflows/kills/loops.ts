/** Loops: each step, and a repair by a command that survives the worker or does not. */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { createServiceFinding } from "../../../judgement/detection/mod.ts";
import { STEPS, WORKFLOW } from "../../../contract/domain/mod.ts";
import { eventually } from "../../_time.ts";
import { type BrokenService, heldRestart, startBrokenService } from "../_broken_service.ts";
import type { KillRow, KillSubject, Stage } from "../_kill_stage.ts";
import type { LoopBench } from "../_loop_bench.ts";
import { listEffectsOn, readLoopEnd } from "../_ticket_record.ts";

/** The activity of each step. */
const ACTIVITIES = ["detect", "openTicket", "diagnose", "remediate", "verify", "closeAndSeal"];

/** Longer than the heartbeat timeout, so that the next worker finds the command still running. */
const SLOW_MS = 8_000;

/** Kills of loops. */
export const loopKills: KillSubject = {
  rows: [
    ...ACTIVITIES.flatMap((activity) => [
      killedAt("before", activity),
      killedAt("after", activity),
    ]),
    {
      name:
        "a loop, while a slow command repairs: the command goes on, and the receipt has its result",
      run: (stage) =>
        withLoop(stage, "command-survives", heldRestart, async ({ faulty, start }) => {
          const run = await start();
          await stage.killed(commandOf(stage.bench, faulty));
          const startsBefore = await faulty.starts();
          await stage.next();
          setTimeout(faulty.release, SLOW_MS);
          const { result, ticket, effects, receipts } = await readLoopEnd(stage.bench.store, run);
          assert.equal(startsBefore, 1);
          assert.equal(await faulty.starts(), 2);
          assert.equal(result.outcome, "sealed");
          assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
          assert.equal(ticket.status, "resolved");
          assert.deepEqual(
            effects.map(({ state, detail }) => [state, detail.code]),
            [["done", "exit_0"]],
          );
          assert.equal(receipts.at(-1)?.outcome, "sealed");
          assert.equal(receipts.at(-1)?.details.effect_code, "exit_0");
        }),
    },
    {
      name:
        "a loop, together with the command of the repair: it is not repeated, the receipt says unknown, the ticket is escalated",
      run: (stage) =>
        withLoop(stage, "command-dies", heldRestart, async ({ faulty, start }) => {
          const run = await start();
          const leader = commandOf(stage.bench, faulty);
          await stage.killed(leader);
          process.kill(-await leader, "SIGKILL");
          await stage.next();
          const { result, ticket, effects, events, receipts } = await readLoopEnd(
            stage.bench.store,
            run,
          );
          assert.equal(result.outcome, "escalated");
          assert.deepEqual(result.steps.map(({ step, state }) => [step, state]), [
            ["DETECT", "detected"],
            ["TICKET", "ticketed"],
            ["DIAGNOSE", "diagnosed"],
            ["REMEDIATE", "failed"],
            ["CLOSE+SEAL", "sealed"],
          ]);
          assert.equal(await faulty.starts(), 1);
          assert.equal(ticket.status, "open");
          assert.equal(ticket.escalated, true);
          assert.deepEqual(effects.map(({ state }) => state), ["unknown"]);
          assert.deepEqual(events, [
            "detected",
            "opened",
            "diagnosed",
            "permitted",
            "intended",
            "remediation_failed",
            "escalated",
          ]);
          assert.deepEqual(receipts.map(({ category, outcome }) => [category, outcome]), [
            ["ticket_opened", "open"],
            ["guardrail_verdict", "allow"],
            ["repair_intended", "intended"],
            ["escalation", "unknown"],
          ]);
        }),
    },
  ],
};

function killedAt(when: "before" | "after", activity: string): KillRow {
  const moment = when === "before" ? "at the start" : "after the work, before the report";
  return {
    name: `a loop, ${moment} of ${activity}: it ends sealed, the service was restarted once`,
    run: (stage) =>
      withLoop(
        stage,
        `faulty-${when}-${activity}`,
        undefined,
        async ({ faulty, workflowId, start }) => {
          const { reached } = await stage.hold({ run: workflowId, when, activity });
          const run = await start();
          await stage.replaced(reached);
          const { result, ticket, effects, events, receipts } = await readLoopEnd(
            stage.bench.store,
            run,
          );
          assert.equal(result.outcome, "sealed");
          assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
          assert.equal(await faulty.starts(), 2);
          assert.equal(ticket.status, "resolved");
          assert.equal(ticket.receipt_id, result.receipt_id);
          assert.deepEqual(effects.map(({ state }) => state), ["done"]);
          assert.deepEqual(events, [
            "detected",
            "opened",
            "diagnosed",
            "permitted",
            "intended",
            "remediated",
            "verified",
            "resolved",
          ]);
          assert.deepEqual(receipts.map(({ category }) => category), [
            "ticket_opened",
            "guardrail_verdict",
            "repair_intended",
            "self_heal",
          ]);
          assert.equal(receipts.at(-1)?.id, result.receipt_id);
        },
      ),
  };
}

/** A loop to start. */
interface Loop {
  readonly faulty: BrokenService;
  readonly workflowId: string;
  start(): ReturnType<Stage["start"]>;
}

/** Breaks a service for a loop. */
async function withLoop(
  { bench, start }: Stage,
  name: string,
  runbook: typeof heldRestart | undefined,
  work: (loop: Loop) => Promise<void>,
): Promise<void> {
  const faulty = await startBrokenService(bench, { name, runbook });
  try {
    const finding = await createServiceFinding(bench.store, faulty.service, "refused");
    const workflowId = `loop-${finding.fingerprint}`;
    await work({
      faulty,
      workflowId,
      start: () => start(WORKFLOW.itsmLoop, workflowId, finding),
    });
  } finally {
    await faulty.remove();
  }
}

/** Returns the process id of the command that repairs, once it runs. */
function commandOf(
  { store, dataDir }: LoopBench,
  { service }: BrokenService,
): Promise<number> {
  return eventually(async () => {
    const [effect] = await listEffectsOn(store, service.name);
    const mark = effect && join(dataDir, "effects", effect.id, "started");
    return mark ? Number(await readFile(mark, "utf8").catch(() => 0)) || undefined : undefined;
  });
}
