/** One kill: six loops, one held in each step, and their results. */
import { access, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isGrpcServiceError, type WorkflowHandle } from "@temporalio/client";
import { createServiceFinding } from "../../judgement/detection/mod.ts";
import { type LoopResult, STEPS, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import type { Store } from "../../store/mod.ts";
import { getTicket, listTicketEvents } from "../../store/incidents/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { type BrokenService, heldRestart, startBrokenService } from "./_broken_service.ts";
import type { CompiledPlatform, Target } from "./_compiled.ts";
import type { Hold, Holds } from "./_holds.ts";

/** The end of one loop. */
export interface LoopEnd {
  readonly step: string;
  readonly hold: Hold;
  /** Undefined: it did not end in time, or Temporal no longer knows it. */
  readonly result?: LoopResult;
  /** Number of starts of the service by the platform. */
  readonly repairs: number;
  /** Differences from the expected end. */
  readonly faults: readonly string[];
  /** From the kill to the loop's end, seconds. */
  readonly seconds: number;
}

/** Points in each step at which loops are held, in turn. */
const HOLDS: Readonly<Record<string, readonly Hold[]>> = {
  "DETECT": ["probe"],
  "TICKET": ["event opened"],
  "DIAGNOSE": ["event diagnosed"],
  "REMEDIATE": ["command", "event permitted", "event intended", "event remediated"],
  "VERIFY": ["event verified"],
  "CLOSE+SEAL": ["event resolved"],
};
/** Every other round, loops are released at most this long before the kill, to hit the ends of steps. */
const MAX_HEAD_START_MS = 40;
const ENDS_WITHIN_MS = 180_000;
const RETRY_MS = 100;

/** Breaks a service for each step, kills the target while a loop is held in each, and checks the results. */
export async function killDuringLoops(
  platform: CompiledPlatform,
  holds: Holds,
  target: Target,
  round: number,
): Promise<LoopEnd[]> {
  const loops = await Promise.all(
    STEPS.map((step, n) => prepare(platform, holds, { target, step, round, n })),
  );
  await list(platform, loops.map(({ faulty }) => faulty));
  await holds.set(Object.fromEntries(loops.map(({ name, hold }) => [name, hold])));
  try {
    const runs = new Map<Prepared, string>();
    const startLoop = async (loop: Prepared) => void runs.set(loop, await start(platform, loop));
    const [first, ...others] = loops;
    for (const loop of others) await startLoop(loop);
    const commands = others.filter(({ hold }) => hold === "command");
    await Promise.all(commands.map(({ begun }) => begun()));
    await holds.held(0, others.length - commands.length);
    await startLoop(first!); // last, as a probe times out after two seconds
    await holds.held(1, others.length - commands.length);
    await holds.letOthersPass();
    const releaseAll = async () => {
      await Promise.all([holds.release(), ...commands.map(({ faulty }) => faulty.release())]);
    };
    const hasHeadStart = round % 2 === 1;
    if (hasHeadStart) {
      void releaseAll();
      await sleep(Math.random() * MAX_HEAD_START_MS);
    }
    const killed = performance.now();
    const back = platform.kill(target);
    if (!hasHeadStart) await releaseAll();
    const [ends] = await Promise.all([
      Promise.all(loops.map((loop) => loopEndOf(platform, loop, runs.get(loop)!, killed))),
      back,
    ]);
    return ends;
  } finally {
    await holds.release();
    await Promise.all(loops.map(({ faulty }) => faulty.remove()));
  }
}

/** A loop to start. */
interface Prepared {
  readonly name: string;
  readonly step: string;
  readonly hold: Hold;
  readonly faulty: BrokenService;
  /** Waits until the command of its repair has begun. */
  begun(): Promise<void>;
}

/** Writes the services file, which each worker reads at start, and waits until the running one has read it. */
async function list(
  { dataDir, store }: CompiledPlatform,
  brokenServices: readonly BrokenService[],
): Promise<void> {
  const services = brokenServices.map(({ service: { name, type, check, restart } }) => {
    return { name, type, check, restart };
  });
  await writeFile(join(dataDir, "sealoop.services.yaml"), JSON.stringify({ services }));
  const names = services.map(({ name }) => name);
  while (true) {
    const read = await store.asPlatform().query(
      "SELECT FROM services WHERE watched AND name = ANY ($1)",
      [names],
    );
    if (read.length === names.length) return; // as all in the file are watched
    await sleep(RETRY_MS);
  }
}

async function prepare(
  platform: CompiledPlatform,
  holds: Holds,
  { target, step, round, n }: { target: Target; step: string; round: number; n: number },
): Promise<Prepared> {
  const kinds = HOLDS[step]!;
  const hold = kinds[round % kinds.length]!;
  const name = `${target.toLowerCase()}-${round}-${n}`;
  // Half of them are restarted by a command, half by the platform.
  const byCommand = hold === "command" || (round + n) % 2 === 0;
  const faulty = await startBrokenService(platform, {
    name,
    runbook: hold === "command" ? heldRestart : byCommand ? atOnce : undefined,
    through: (health) => holds.gate(name, health),
  });
  return {
    name,
    step,
    hold,
    faulty,
    async begun() {
      while (true) {
        const row = await platform.store.asPlatform().first(
          "SELECT id FROM effects WHERE service = $1",
          [name],
        );
        if (row && await exists(join(platform.dataDir, "effects", row.id, "started"))) return;
        await sleep(10);
      }
    },
  };
}

/** Returns a restart as by a service manager. */
function atOnce(command: readonly string[]) {
  return { command: ["sh", "-c", 'nohup "$@" & sleep 0.1', "sh", ...command] };
}

/** Starts a loop, and returns the id of its run: a sweep may start another one after its end. */
async function start(platform: CompiledPlatform, { faulty }: Prepared): Promise<string> {
  const { client, store } = platform;
  const finding = await createServiceFinding(store, faulty.service, "status_503");
  const handle = await client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: `loop-${finding.fingerprint}`,
    workflowIdConflictPolicy: "USE_EXISTING", // a sweep after another service's end may have found it
    args: [finding],
  });
  return handle.firstExecutionRunId;
}

async function workflowIdOf(store: Store, { service }: BrokenService): Promise<string> {
  return `loop-${(await createServiceFinding(store, service, "status_503")).fingerprint}`;
}

async function loopEndOf(
  platform: CompiledPlatform,
  { step, hold, faulty }: Prepared,
  runId: string,
  killed: number,
): Promise<LoopEnd> {
  const { client, store } = platform;
  const workflowId = await workflowIdOf(store, faulty);
  const handle = client.workflow.getHandle<typeof itsmLoop>(workflowId, runId);
  const ending = await resultOf(handle);
  const seconds = (performance.now() - killed) / 1000;
  const result = typeof ending === "string" ? undefined : ending;
  const repairs = await faulty.starts() - 1;
  const faults = result
    ? await untilServersAreBack(() => faultsOf(platform, result, repairs))
    : [ending as string];
  return { step, hold, ...result ? { result } : {}, repairs, faults, seconds };
}

/** Returns the result of a loop, even if its server is away for a while; or the reason why there is none. */
async function resultOf(handle: WorkflowHandle<typeof itsmLoop>): Promise<LoopResult | string> {
  const deadline = Date.now() + ENDS_WITHIN_MS;
  let last = "it did not end in time";
  while (Date.now() < deadline) {
    const end = new AbortController();
    const timer = setTimeout(() => end.abort(), deadline - Date.now());
    try {
      return await handle.client.withAbortSignal(end.signal, () => handle.result());
    } catch (error) {
      if (!isGrpcServiceError(error) && !end.signal.aborted) return causesOf(error);
      last = String(error);
      await sleep(RETRY_MS);
    } finally {
      clearTimeout(timer);
    }
  }
  return last;
}

/** Describes an error with its causes. */
function causesOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? String(error) : `${error}, as ${causesOf(cause)}`;
}

/** Repeats work until the servers are back. */
async function untilServersAreBack<T>(look: () => Promise<T>): Promise<T> {
  const deadline = Date.now() + ENDS_WITHIN_MS;
  while (true) {
    try {
      return await look();
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await sleep(RETRY_MS);
    }
  }
}

const HEALED = ["detected", "opened", "diagnosed", "permitted", "intended", "remediated"];
const RECEIPTS = ["ticket_opened", "guardrail_verdict", "repair_intended", "self_heal"];

/** Returns the differences from a loop that was not disturbed, or from one that is properly escalated. */
async function faultsOf(
  { store }: CompiledPlatform,
  { outcome, ticket_id, receipt_id }: LoopResult,
  repairs: number,
): Promise<string[]> {
  const faults: string[] = [];
  const expect = (what: string, seen: unknown, wanted: unknown) => {
    const [a, b] = [seen, wanted].map((value) => JSON.stringify(value));
    if (a !== b) faults.push(`${what}: ${a} and not ${b}`);
  };
  const ticket = ticket_id === null ? undefined : await getTicket(store.asPlatform(), ticket_id);
  if (!ticket) return [`no ticket, and outcome ${outcome}`];
  const moves = (await listTicketEvents(store.asPlatform(), ticket.ticket_id)).map(({ kind }) =>
    kind
  );
  const receipts = await store.asPlatform().query(
    `SELECT id, category FROM receipts
     WHERE convert_from(record, 'UTF8')::json ->> 'subject' = $1
       AND category <> 'learning_receipt' -- of the knowledge base, some time after the end
     ORDER BY position`,
    [ticket.ticket_id],
  );
  const last = receipts.at(-1);
  expect("receipt", last?.id, receipt_id);
  if (outcome === "sealed") {
    expect("repairs", repairs, 1);
    expect("ticket", [ticket.status, ticket.receipt_id], ["resolved", receipt_id]);
    expect("timeline", moves, [...HEALED, "verified", "resolved"]);
    expect("receipts", receipts.map(({ category }) => category), RECEIPTS);
  } else {
    expect("ticket", [outcome, ticket.status, ticket.escalated], ["escalated", "open", true]);
    expect("last move", moves.at(-1), "escalated");
    expect("last receipt", last?.category, "escalation");
  }
  return faults;
}

function exists(path: string): Promise<boolean> {
  return access(path).then(() => true, () => false);
}
