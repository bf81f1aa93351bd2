/**
 * Many loops open at once on the embedded servers: `LOOPS` services (default 1,000) that are down and whose repair a
 * person must be asked about, so that as many loops and as many approvals wait; then all are approved, repair, and end.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { testFolder } from "../test/_run.ts";
import { createServiceFinding } from "../detection/mod.ts";
import type { Service } from "../integrations/host/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../domain/mod.ts";
import type { itsmLoop } from "../workflows/mod.ts";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { exportReceipts, listLedgerKeys, verifyChain } from "../ledger/mod.ts";
import { logPath } from "../embedded/mod.ts";
import { listPendingApprovals, putServices } from "../store/mod.ts";
import { createApprover, vote } from "../test/workflows/_people.ts";
import { type CompiledPlatform, startCompiledPlatform } from "../test/workflows/_compiled.ts";

const LOOPS = Number(process.env.LOOPS ?? 1_000);
const AT_ONCE = 25;
const OPEN_WITHIN_MS = 900_000;
const SAMPLE_MS = 1_000;

const ASK_FIRST = `
runbook: ask-first
version: 1.0.0
title: Restart a service when somebody has said so
about: It is started again as its owner has listed, and somebody has to know of it before.
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

/** Opens them, counts, lets them end, and prints what it took. */
export async function run(): Promise<readonly never[]> {
  const runbooks = join(await testFolder(), "runbooks");
  mkdirSync(runbooks);
  writeFileSync(join(runbooks, "ask-first.yaml"), ASK_FIRST);
  const platform = await startCompiledPlatform((text) => console.error(`    ${text}`), {
    SEALOOP_RUNBOOKS: runbooks,
  });
  const most = watchMemory(platform);
  const services = await openServices(platform);
  try {
    const before = await most.now();
    const started = performance.now();
    const handles = await inTurns(services.all, (service) => start(platform, service));
    await until(async () =>
      (await listPendingApprovals(platform.store.asPlatform())).length === LOOPS
    );
    const opened = performance.now();
    const open = await running(platform);
    const atOpen = await most.now();
    const ann = await createApprover(platform.store, "ann");
    const ids = await listPendingApprovals(platform.store.asPlatform());
    await inTurns(ids, async (id) => {
      await vote(platform, id, "approved", ann);
    });
    const results = await inTurns(handles, (handle) => handle.result());
    const ended = performance.now();
    const sealed = results.filter(({ outcome }) => outcome === "sealed").length;
    const seconds = (from: number, to: number) => Math.round((to - from) / 1000);
    console.log(`\n${LOOPS} loops: ${open} runs open at once; ${sealed} ended sealed`);
    console.log(
      `all open after ${seconds(started, opened)} s, all ended ${seconds(opened, ended)} s later`,
    );
    console.log(`faults of the chain: ${await breaksOf(platform)}`);
    for (const [name, text] of Object.entries(errorsOf(platform))) {
      console.log(
        `errors in the log of ${name}: ${text.length}${text.length ? `, ${text[0]}` : ""}`,
      );
    }
    console.log("\n| MiB of memory | before | all open | most |\n| --- | --- | --- | --- |");
    for (const [name, mib] of most.end()) {
      console.log(`| ${name} | ${before.get(name)} | ${atOpen.get(name)} | ${mib} |`);
    }
    if (sealed < LOOPS) process.exitCode = 1;
    return [];
  } finally {
    most.end();
    await services.close();
    await platform.close();
  }
}

/** Services that are down until their restart has touched a file. */
async function openServices({ store, dataDir }: CompiledPlatform) {
  const fileOf = (name: string) => join(dataDir, `is-up-${name}`);
  const server = createServer((req, res) =>
    res.writeHead(existsSync(fileOf(req.url!.slice(1))) ? 200 : 503).end()
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const all = Array.from({ length: LOOPS }, (_, n): Service => ({
    ...{ name: `open-${n}`, type: "web", host: "localhost", owner: null, origin: "test" },
    ...{ watched: false, dependsOn: [], check: { http: `http://127.0.0.1:${port}/open-${n}` } },
    restart: { command: ["touch", fileOf(`open-${n}`)] },
  }));
  await putServices(store.asPlatform(), all);
  return { all, close: () => new Promise<unknown>((resolve) => server.close(resolve)) };
}

async function start({ client }: CompiledPlatform, service: Service) {
  const finding = createServiceFinding(service, "status_503");
  return await client.workflow.start<typeof itsmLoop>(WORKFLOW.itsmLoop, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: `loop-${finding.fingerprint}`,
    args: [finding],
  });
}

/** Does the same with each, some at a time. */
async function inTurns<T, U>(items: readonly T[], work: (item: T) => Promise<U>): Promise<U[]> {
  const results: U[] = [];
  const queue = items.entries();
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    for (const [n, item] of queue) results[n] = await work(item);
  }));
  return results;
}

async function until(met: () => Promise<boolean>): Promise<void> {
  const deadline = Date.now() + OPEN_WITHIN_MS;
  while (!await met()) {
    if (Date.now() > deadline) throw new Error("Not all loops came to wait");
    await sleep(500);
  }
}

async function running({ client }: CompiledPlatform): Promise<number> {
  const query = "ExecutionStatus = 'Running' AND WorkflowType IN ('itsmLoop', 'approval')";
  return (await client.workflow.count(query)).count;
}

async function breaksOf({ store }: CompiledPlatform): Promise<number> {
  const receipts = await exportReceipts(store, { from: 0, to: Number.MAX_SAFE_INTEGER });
  const { breaks } = await verifyChain(
    receipts.map(({ text }) => text),
    await listLedgerKeys(store),
  );
  return breaks.length;
}

/** Resident memory of the servers and processes, MiB; that of PostgreSQL without those of its connections. */
function watchMemory({ processes }: CompiledPlatform) {
  const most = new Map<string, number>();
  const now = () => {
    const seen = new Map<string, number>();
    for (const [name, pid] of processes()) {
      const status = readFileSync(`/proc/${pid}/status`, "utf8");
      const mib = Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024);
      seen.set(name, mib);
      most.set(name, Math.max(mib, most.get(name) ?? 0));
    }
    return Promise.resolve(seen);
  };
  const timer = setInterval(now, SAMPLE_MS);
  return {
    now,
    end: () => {
      clearInterval(timer);
      return most;
    },
  };
}

/** Lines of the logs that tell of errors, by process. */
function errorsOf({ dataDir, processes }: CompiledPlatform): Record<string, string[]> {
  return Object.fromEntries([...processes().keys()].map((name) => {
    const path = logPath(dataDir, name.toLowerCase());
    const lines = existsSync(path) ? readFileSync(path, "utf8").split("\n") : [];
    return [
      name,
      lines.filter((line) =>
        /"level":"(error|fatal)"|level=error|^\S+ .* (ERROR|FATAL|PANIC):/.test(line)
      ),
    ];
  }));
}
