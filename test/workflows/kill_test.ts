import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { STEPS, WORKFLOW } from "../../contract/domain/mod.ts";
import { exportReceipts, listLedgerKeys, verifyChain } from "../../ledger/mod.ts";
import { type EffectRecord, getTicket, listTicketEvents } from "../../store/incidents/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { heldRestart, startBrokenService } from "./_broken_service.ts";
import {
  type KillPoint,
  type LoopBench,
  openLoopBench,
  type WorkerProcess,
} from "./_loop_bench.ts";
import { listEffectsOn } from "./_ticket_record.ts";

/** The activity of each step. */
const ACTIVITIES = ["detect", "openTicket", "diagnose", "remediate", "verify", "closeAndSeal"];
const POINTS: readonly KillPoint[] = ACTIVITIES.flatMap((activity) => [
  { when: "before", activity },
  { when: "after", activity },
]);
const AT_ONCE = 2;

/** Longer than the heartbeat timeout, so that the next worker finds the command still running. */
const SLOW_MS = 8_000;

/** The end of a loop whose worker was killed. */
interface LoopEnd {
  readonly result: Awaited<ReturnType<typeof itsmLoop>>;
  /** Number of starts of the service, the first one included. */
  readonly starts: number;
  /** The same, at the death of the worker. */
  readonly startsBefore: number;
  readonly ticket: Awaited<ReturnType<typeof getTicket>>;
  /** Kinds of the ticket's events, oldest first. */
  readonly events: readonly string[];
  /** Receipts of the ticket, oldest first. */
  readonly receipts: readonly Record<string, unknown>[];
  readonly breaks: readonly unknown[];
  /** Restarts of the service, newest first. */
  readonly effects: readonly EffectRecord[];
}

/** The kill of a worker: by itself at a point, or by the test while a slow command repairs. */
type Kill = KillPoint | { readonly during: "repair"; readonly withCommand: boolean };

/** Workers of a task queue, one after the other. */
interface Queue {
  /** Its own, so that no other worker takes the loop. */
  readonly taskQueue: string;
  /** Takes over a loop after its predecessor was killed, and is killed in the next one. */
  worker: WorkerProcess;
}

describe("a worker that is killed with -9", () => {
  let bench: LoopBench;
  let running: Promise<unknown>;
  const ends = new Map<Kill, Promise<LoopEnd>>();
  const commandSurvives: Kill = { during: "repair", withCommand: false };
  const commandDies: Kill = { during: "repair", withCommand: true };

  before(async () => {
    bench = await openLoopBench();
    const loops = [commandSurvives, commandDies, ...POINTS].map((kill, n) => {
      const { promise, resolve, reject } = deferred<LoopEnd>();
      ends.set(kill, promise);
      return (queue: Queue) => survive(bench, kill, `faulty-${n}`, queue).then(resolve, reject);
    });
    running = Promise.all(Array.from({ length: AT_ONCE }, async (_, n) => {
      const queue: Queue = { taskQueue: `itsm-${n}`, worker: await bench.worker(`itsm-${n}`) };
      queue.worker.begin();
      for (let run = loops.shift(); run; run = loops.shift()) await run(queue);
    }));
  });
  after(async () => {
    await running;
    await bench?.close();
  });

  for (const point of POINTS) {
    const { when, activity } = point;
    const moment = when === "before" ? "at the start" : "after the work, before the report";
    it(`${moment} of ${activity}: the loop ends sealed, the service was restarted once`, async () => {
      const { result, starts, ticket, effects, events, receipts, breaks } =
        (await ends.get(point))!;
      assert.equal(result.outcome, "sealed");
      assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
      assert.equal(starts, 2);
      assert.equal(ticket?.status, "resolved");
      assert.equal(ticket?.receipt_id, result.receipt_id);
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
      assert.deepEqual(breaks, []);
    });
  }

  it("while a slow command repairs: the command goes on, and the receipt has its result", async () => {
    const { result, starts, startsBefore, ticket, effects, receipts, breaks } = (await ends
      .get(commandSurvives))!;
    assert.equal(startsBefore, 1);
    assert.equal(starts, 2);
    assert.equal(result.outcome, "sealed");
    assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
    assert.equal(ticket?.status, "resolved");
    assert.deepEqual(effects.map(({ state, detail }) => [state, detail.code]), [
      ["done", "exit_0"],
    ]);
    const { outcome, details } = receipts.at(-1) as Record<string, Record<string, unknown>>;
    assert.equal(outcome, "sealed");
    assert.equal(details?.effect_code, "exit_0");
    assert.deepEqual(breaks, []);
  });

  it("together with the command of the repair: it is not repeated, the receipt says unknown, the ticket is escalated", async () => {
    const { result, starts, ticket, effects, events, receipts, breaks } = (await ends
      .get(commandDies))!;
    assert.equal(result.outcome, "escalated");
    assert.deepEqual(result.steps.map(({ step, state }) => [step, state]), [
      ["DETECT", "detected"],
      ["TICKET", "ticketed"],
      ["DIAGNOSE", "diagnosed"],
      ["REMEDIATE", "failed"],
      ["CLOSE+SEAL", "sealed"],
    ]);
    assert.equal(starts, 1);
    assert.equal(ticket?.status, "open");
    assert.equal(ticket?.escalated, true);
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
    assert.deepEqual(breaks, []);
  });
});

/** Breaks a service, runs the loop with a worker that is killed and then with the next one, and reads the result. */
async function survive(
  bench: LoopBench,
  kill: Kill,
  name: string,
  queue: Queue,
): Promise<LoopEnd> {
  const { store, client } = bench;
  const { taskQueue, worker: first } = queue;
  const coming = bench.worker(taskQueue);
  coming.catch(() => {}); // waited for below
  const faulty = await startBrokenService(bench, {
    name,
    runbook: "during" in kill ? heldRestart : undefined,
  });
  try {
    if ("when" in kill) first.dieAt(kill);
    const finding = await createServiceFinding(bench.store, faulty.service, "refused");
    const handle = await client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    if ("during" in kill) await killDuringRepair(bench, name, first, kill.withCommand);
    assert.equal(await first.ended, "SIGKILL");
    const startsBefore = await faulty.starts();
    queue.worker = await coming;
    queue.worker.begin();
    if ("during" in kill && !kill.withCommand) setTimeout(faulty.release, SLOW_MS);
    const result = await handle.result();
    const id = result.ticket_id!;
    return {
      result,
      starts: await faulty.starts(),
      startsBefore,
      ticket: await getTicket(store.asPlatform(), id),
      events: (await listTicketEvents(store.asPlatform(), id)).map(({ kind }) => kind),
      effects: await listEffectsOn(bench.store, name),
      ...await receiptsOf(bench, id),
    };
  } finally {
    await faulty.remove();
  }
}

/** Kills the worker as soon as the command of the repair runs, and the command if asked to. */
async function killDuringRepair(
  bench: LoopBench,
  name: string,
  worker: WorkerProcess,
  withCommand: boolean,
): Promise<void> {
  let leader = 0;
  while (!leader) {
    await sleep(20);
    const [effect] = await listEffectsOn(bench.store, name);
    if (!effect) continue;
    const mark = join(bench.dataDir, "effects", effect.id, "started");
    leader = Number(await readFile(mark, "utf8").catch(() => 0));
  }
  worker.kill();
  if (withCommand) process.kill(-leader, "SIGKILL");
}

/** Returns the receipts of a ticket, without that of the knowledge base, and the breaks of the chain. */
async function receiptsOf({ store }: LoopBench, ticketId: string) {
  const all = (await exportReceipts(store, { from: 0, to: 10_000 })).map(({ text }) => text);
  const { breaks } = await verifyChain(all, await listLedgerKeys(store));
  const receipts = all.map((text) => JSON.parse(text)).filter(({ subject, category }) =>
    subject === ticketId && category !== "learning_receipt"
  );
  return { receipts, breaks };
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => [resolve, reject] = [yes, no]);
  promise.catch(() => {}); // reported to whoever waits for it
  return { promise, resolve, reject };
}
