/**
 * Many loops open at once on the embedded servers: `LOOPS` services (default 1,000) are down, and a person must be asked
 * about each repair, so that as many loops and approvals wait. Then all are approved, repair, and end.
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createServiceFinding } from "../judgement/detection/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../contract/domain/mod.ts";
import type { Service } from "../integrations/host/mod.ts";
import { listOpenActs } from "../store/acts/mod.ts";
import { putServices } from "../store/cmdb/mod.ts";
import { testFolder } from "../test/_run.ts";
import { type CompiledPlatform, startCompiledPlatform } from "../test/workflows/_compiled.ts";
import { createApprover, vote } from "../test/workflows/_people.ts";
import type { itsmLoop } from "../workflows/mod.ts";
import { countBreaks } from "./_count_breaks.ts";
import { DOWN_CODE, openDownServices } from "./_down_services.ts";
import { listLogErrors, watchMemory } from "./_process_health.ts";
import { runConcurrently } from "./_work.ts";

const LOOPS = Number(process.env.LOOPS ?? 1_000);
const CONCURRENCY = 25;
const OPEN_TIMEOUT_MS = 900_000;
const POLL_MS = 500;

const ASK_FIRST = `
runbook: ask-first
version: 1.0.0
title: Restart a service when a person has approved it
about: The service is restarted as its owner has listed, and a person has to know of it before.
match: { services: [open-*] }
needs: [restart]
steps:
  - step: restart
    does: Restarts the service by the entry that the services file has for it.
    restart: service
    bounds: { within: 2m, ask: this one serves others }
    undo: { none: A restart has no opposite. }
    never: [Restart another service.]
`;

/** Opens loops, counts them, lets them end, and prints what it took. */
export async function run(): Promise<void> {
  const platform = await startCompiledPlatform((text) => console.error(`    ${text}`), {
    SEALOOP_RUNBOOKS: await writeRunbooks(),
  });
  const services = await openDownServices(platform.dataDir);
  const memory = watchMemory(platform);
  try {
    const all = Array.from({ length: LOOPS }, (_, n) => services.describe(`open-${n}`));
    await putServices(platform.store.asPlatform(), all);
    const before = memory.read();
    const startedMs = performance.now();
    const handles = await forEach(all, (service) => startLoop(platform, service));
    const approvalIds = await waitForApprovals(platform);
    const openSeconds = secondsSince(startedMs);
    const whenOpen = memory.read();
    console.log(`${await countOpenRuns(platform)} runs are open after ${openSeconds} s`);
    const approvedMs = performance.now();
    const approver = await createApprover(platform.store, "ann");
    await forEach(approvalIds, (id) => vote(platform, id, "approved", approver));
    const results = await forEach(handles, (handle) => handle.result());
    const sealed = results.filter(({ outcome }) => outcome === "sealed").length;
    console.log(`${sealed} of ${LOOPS} loops are sealed ${secondsSince(approvedMs)} s later`);
    console.log(`breaks of the chain: ${await countBreaks(platform.store)}`);
    printLogErrors(platform);
    printMemory(before, whenOpen, memory.end());
    if (sealed < LOOPS) process.exitCode = 1;
  } finally {
    memory.end();
    await services.close();
    await platform.close();
  }
}

function secondsSince(startedMs: number): number {
  return Math.round((performance.now() - startedMs) / 1000);
}

function printLogErrors(platform: CompiledPlatform): void {
  for (const [name, lines] of listLogErrors(platform)) {
    console.log(`errors in the log of ${name}: ${[lines.length, ...lines.slice(0, 1)].join(", ")}`);
  }
}

/** Memory by process, MiB. */
type Memory = ReadonlyMap<string, number>;

function printMemory(before: Memory, whenOpen: Memory, highest: Memory): void {
  console.log("\n| MiB of memory | before | all open | most |\n| --- | --- | --- | --- |");
  for (const [name, mib] of highest) {
    console.log(`| ${name} | ${before.get(name)} | ${whenOpen.get(name)} | ${mib} |`);
  }
}

async function writeRunbooks(): Promise<string> {
  const folder = join(await testFolder(), "runbooks");
  mkdirSync(folder);
  writeFileSync(join(folder, "ask-first.yaml"), ASK_FIRST);
  return folder;
}

async function startLoop({ client, store }: CompiledPlatform, service: Service) {
  const finding = await createServiceFinding(store, service, DOWN_CODE);
  return await client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: `loop-${finding.fingerprint}`,
    args: [finding],
  });
}

/** Does the work with every item, some at a time. @returns the results in order */
function forEach<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  return runConcurrently(items.length, CONCURRENCY, (n) => work(items[n]!));
}

/** Waits until every loop has its approval. @returns their ids */
async function waitForApprovals({ store }: CompiledPlatform): Promise<readonly string[]> {
  const deadline = Date.now() + OPEN_TIMEOUT_MS;
  while (true) {
    const open = await listOpenActs(store.asPlatform());
    const ids = open.filter(({ kind }) => kind === "approval").map(({ id }) => id);
    if (ids.length === LOOPS) return ids;
    if (Date.now() > deadline) {
      throw new Error(
        `Only ${ids.length} of ${LOOPS} loops wait after ${OPEN_TIMEOUT_MS / 1000} s`,
      );
    }
    await sleep(POLL_MS);
  }
}

async function countOpenRuns({ client }: CompiledPlatform): Promise<number> {
  const query = "ExecutionStatus = 'Running' AND WorkflowType IN ('itsmLoop', 'approval')";
  return (await client.workflow.count(query)).count;
}
