/** One kill: six loops, one held in each step, and what became of them. */
import { access, writeFile } from "node:fs/promises";
import { createServiceFinding } from "../../detection/mod.ts";
import { type LoopResult, STEPS, TASK_QUEUE, WORKFLOW } from "../../domain/mod.ts";
import type { itsmLoop } from "../../workflows/mod.ts";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isGrpcServiceError, type WorkflowHandle } from "@temporalio/client";
import { getTicket, listTicketEvents } from "../../store/mod.ts";
import { type BrokenService, heldRestart, startBrokenService } from "./_broken_service.ts";
import type { Hold, Holds } from "./_holds.ts";
import type { CompiledPlatform, Target } from "./_compiled.ts";

/** What became of one loop. */
export interface LoopEnd {
  readonly step: string;
  readonly hold: Hold;
  /** Undefined: it did not end in time, or Temporal does not know it any more. */
  readonly result?: LoopResult;
  /** How often the service was started by the platform. */
  readonly repairs: number;
  /** What was to be there at the end and is not, or is there though it should not. */
  readonly faults: readonly string[];
  /** From the kill to the loop's end, seconds. */
  readonly seconds: number;
}

/** Where in each step loops are held, round after round. */
const HOLDS: Readonly<Record<string, readonly Hold[]>> = {
  "DETECT": ["probe"],
  "TICKET": ["event opened"],
  "DIAGNOSE": ["event diagnosed"],
  "REMEDIATE": ["command", "event permitted", "event intended", "event remediated"],
  "VERIFY": ["event verified"],
  "CLOSE+SEAL": ["event resolved"],
};
/** Every other round, what is held is let go so long before the kill at most, to meet steps at their ends; ms. */
const LEAVING_MS = 40;
const ENDS_WITHIN_MS = 180_000;
const RETRY_MS = 100;

/** Breaks a service for each step, kills the target while their loops are held there, and looks at what came of them. */
export async function killDuringLoops(
  platform: CompiledPlatform,
  holds: Holds,
  target: Target,
  round: number,
): Promise<LoopEnd[]> {
  const loops = await Promise.all(
    STEPS.map((step, n) => prepare(platform, holds, { target, step, round, n })),
  );
  await list(platform, loops.map(({ victim }) => victim));
  await holds.set(Object.fromEntries(loops.map(({ name, hold }) => [name, hold])));
  try {
    const [first, ...others] = loops;
    for (const loop of others) await start(platform, loop);
    const commands = others.filter(({ hold }) => hold === "command");
    await Promise.all(commands.map(({ begun }) => begun()));
    await holds.held(0, others.length - commands.length);
    await start(platform, first!); // last, as a probe is waited for no longer than two seconds
    await holds.held(1, others.length - commands.length);
    await holds.letOthersPass();
    const letGo = async () => {
      await Promise.all([holds.release(), ...commands.map(({ victim }) => victim.release())]);
    };
    const leaving = round % 2 === 1;
    if (leaving) {
      void letGo();
      await sleep(Math.random() * LEAVING_MS);
    }
    const killed = performance.now();
    const back = platform.kill(target);
    if (!leaving) await letGo();
    const [aftermaths] = await Promise.all([
      Promise.all(loops.map((loop) => loopEndOf(platform, loop, killed))),
      back,
    ]);
    return aftermaths;
  } finally {
    await holds.release();
    await Promise.all(loops.map(({ victim }) => victim.remove()));
  }
}

/** A loop that is to be. */
interface Prepared {
  readonly name: string;
  readonly step: string;
  readonly hold: Hold;
  readonly victim: BrokenService;
  /** Waits until the command of its repair has begun. */
  begun(): Promise<void>;
}

/** Lists services in the file, where every worker that starts looks for them, and waits until the one that runs has. */
async function list(
  { dataDir, store }: CompiledPlatform,
  victims: readonly BrokenService[],
): Promise<void> {
  const services = victims.map(({ service: { name, type, check, restart } }) => {
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
  // Half of them are brought back by a command, half as processes of the platform's own.
  const byCommand = hold === "command" || (round + n) % 2 === 0;
  const victim = await startBrokenService(platform, {
    name,
    runbook: hold === "command" ? heldRestart : byCommand ? atOnce : undefined,
    through: (health) => holds.gate(name, health),
  });
  return {
    name,
    step,
    hold,
    victim,
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

/** Brings the service back as a service manager does. */
function atOnce(command: readonly string[]) {
  return { command: ["sh", "-c", 'nohup "$@" & sleep 0.1', "sh", ...command] };
}

async function start({ client }: CompiledPlatform, { victim }: Prepared): Promise<void> {
  const finding = createServiceFinding(victim.service, "status_503");
  await client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: workflowIdOf(victim),
    args: [finding],
  });
}

const workflowIdOf = ({ service }: BrokenService) =>
  `loop-${createServiceFinding(service, "status_503").fingerprint}`;

async function loopEndOf(
  platform: CompiledPlatform,
  { step, hold, victim }: Prepared,
  killed: number,
): Promise<LoopEnd> {
  const handle = platform.client.workflow.getHandle<typeof itsmLoop>(workflowIdOf(victim));
  const ending = await resultOf(handle);
  const seconds = (performance.now() - killed) / 1000;
  const result = typeof ending === "string" ? undefined : ending;
  const repairs = await victim.starts() - 1;
  const faults = result
    ? await patiently(() => faultsOf(platform, result, repairs))
    : [ending as string];
  return { step, hold, ...result ? { result } : {}, repairs, faults, seconds };
}

/** What a loop gave, however long its server is away; or why it gives nothing. */
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

/** An error with all that has led to it. */
function causesOf(error: unknown): string {
  const { cause } = error as { cause?: unknown };
  return cause === undefined ? String(error) : `${error}, as ${causesOf(cause)}`;
}

/** Repeats a look until the servers are there for it. */
async function patiently<T>(look: () => Promise<T>): Promise<T> {
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

/** What differs from what a loop leaves behind that nobody shot at, or that tells people that it can't know. */
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
