import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import { createServiceFinding } from "../../detection/mod.ts";
import type { Restart } from "../../integrations/host/mod.ts";
import { STEPS, WORKFLOW } from "../../domain/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { exportReceipts, listLedgerKeys, verifyChain } from "../../ledger/mod.ts";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { type EffectRecord, getTicket, listTicketEvents } from "../../store/mod.ts";
import {
  type KillPoint,
  type LoopBench,
  openLoopBench,
  type WorkerProcess,
} from "./_loop_bench.ts";
import { effectsOn } from "./_ticket_record.ts";
import { startBrokenService } from "./_broken_service.ts";

/** The activity of each step. */
const ACTIVITIES = ["detect", "openTicket", "diagnose", "remediate", "verify", "closeAndSeal"];
const POINTS: readonly KillPoint[] = ACTIVITIES.flatMap((activity) => [
  { when: "before", activity },
  { when: "after", activity },
]);
const AT_ONCE = 2;

/** Longer than it takes to notice that a worker has died, so that the next one finds the command still running. */
const SLOW_SECONDS = 8;

/** All that is seen of a run whose worker was killed. */
interface Aftermath {
  readonly result: Awaited<ReturnType<typeof itsmLoop>>;
  /** How often the service was started, the first time included. */
  readonly starts: number;
  /** The same, when the worker was dead. */
  readonly startsBefore: number;
  readonly ticket: Awaited<ReturnType<typeof getTicket>>;
  /** Kinds of the ticket's events, oldest first. */
  readonly moves: readonly string[];
  /** The ticket's, oldest first. */
  readonly receipts: readonly Record<string, unknown>[];
  readonly breaks: readonly unknown[];
  /** All of the service. */
  readonly effects: readonly EffectRecord[];
}

/** When a worker is killed: by itself at a point, or by the test while a slow command repairs. */
type Killing = KillPoint | { readonly during: "repair"; readonly andTheCommand: boolean };

/** In whose hands loops are. */
interface Hands {
  /** Of its own, so that no other worker takes the loop. */
  readonly taskQueue: string;
  /** Takes over a loop when its predecessor was killed, and is killed in the next one. */
  worker: WorkerProcess;
}

describe("a worker that is killed with -9", () => {
  let bench: LoopBench;
  let running: Promise<unknown>;
  const aftermaths = new Map<Killing, Promise<Aftermath>>();
  const goesOn: Killing = { during: "repair", andTheCommand: false };
  const diesToo: Killing = { during: "repair", andTheCommand: true };

  before(async () => {
    bench = await openLoopBench();
    const queue = [goesOn, diesToo, ...POINTS].map((killing, n) => {
      const { promise, resolve, reject } = deferred<Aftermath>();
      aftermaths.set(killing, promise);
      return (hands: Hands) => survive(bench, killing, `victim-${n}`, hands).then(resolve, reject);
    });
    running = Promise.all(Array.from({ length: AT_ONCE }, async (_, n) => {
      const hands: Hands = { taskQueue: `itsm-${n}`, worker: await bench.worker(`itsm-${n}`) };
      hands.worker.begin();
      for (let next = queue.shift(); next; next = queue.shift()) await next(hands);
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
      const { result, starts, ticket, effects, moves, receipts, breaks } =
        (await aftermaths.get(point))!;
      assert.equal(result.outcome, "sealed");
      assert.deepEqual(result.steps.map(({ step }) => step), STEPS);
      assert.equal(starts, 2);
      assert.equal(ticket?.status, "resolved");
      assert.equal(ticket?.receipt_id, result.receipt_id);
      assert.deepEqual(effects.map(({ state }) => state), ["done"]);
      assert.deepEqual(moves, [
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

  it("while a slow command repairs: the command goes on, and its end is what the receipt says", async () => {
    const { result, starts, startsBefore, ticket, effects, receipts, breaks } = (await aftermaths
      .get(goesOn))!;
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

  it("together with the command that repairs: nobody repeats it, the receipt says unknown, people are asked", async () => {
    const { result, starts, ticket, effects, moves, receipts, breaks } = (await aftermaths
      .get(diesToo))!;
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
    assert.deepEqual(moves, [
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

/** Breaks a service, runs the loop with a worker that is killed and then with its heir, and looks at it all. */
async function survive(
  bench: LoopBench,
  killing: Killing,
  name: string,
  hands: Hands,
): Promise<Aftermath> {
  const { store, client } = bench;
  const { taskQueue, worker: doomed } = hands;
  const coming = bench.worker(taskQueue);
  coming.catch(() => {}); // waited for below
  const victim = await startBrokenService(bench, {
    name,
    runbook: "during" in killing ? slowly : undefined,
  });
  try {
    if ("when" in killing) doomed.dieAt(killing);
    const finding = createServiceFinding(victim.service, "refused");
    const handle = await client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
    });
    if ("during" in killing) await killDuringRepair(bench, name, doomed, killing.andTheCommand);
    assert.equal(await doomed.ended, "SIGKILL");
    const startsBefore = await victim.starts();
    hands.worker = await coming;
    hands.worker.begin();
    const result = await handle.result();
    const id = result.ticket_id!;
    return {
      result,
      starts: await victim.starts(),
      startsBefore,
      ticket: await getTicket(store.asPlatform(), id),
      moves: (await listTicketEvents(store.asPlatform(), id)).map(({ kind }) => kind),
      effects: await effectsOn(bench.store, name),
      ...await receiptsOf(bench, id),
    };
  } finally {
    await victim.remove();
  }
}

/** A runbook whose command takes longer than it takes to miss a worker. */
function slowly(command: readonly string[]): Restart {
  const script = `sleep ${SLOW_SECONDS}; nohup "$@" & sleep 0.2`;
  return { command: ["sh", "-c", script, "sh", ...command] };
}

/** Kills the worker as soon as the command of the repair runs, and perhaps the command too. */
async function killDuringRepair(
  bench: LoopBench,
  name: string,
  worker: WorkerProcess,
  andTheCommand: boolean,
): Promise<void> {
  let leader = 0;
  while (!leader) {
    await sleep(20);
    const [effect] = await effectsOn(bench.store, name);
    if (!effect) continue;
    const mark = join(bench.dataDir, "effects", effect.id, "started");
    leader = Number(await readFile(mark, "utf8").catch(() => 0));
  }
  worker.kill();
  if (andTheCommand) process.kill(-leader, "SIGKILL");
}

/** The ticket's receipts, and the faults of the chain that they are part of. */
async function receiptsOf({ store }: LoopBench, ticketId: string) {
  const all = (await exportReceipts(store, { from: 0, to: 10_000 })).map(({ text }) => text);
  const { breaks } = await verifyChain(all, await listLedgerKeys(store));
  const receipts = all.map((text) => JSON.parse(text)).filter((r) => r.subject === ticketId);
  return { receipts, breaks };
}

function deferred<T>() {
  let resolve!: (value: T) => void;
  let reject!: (error: unknown) => void;
  const promise = new Promise<T>((yes, no) => [resolve, reject] = [yes, no]);
  promise.catch(() => {}); // told to whoever waits for it
  return { promise, resolve, reject };
}
