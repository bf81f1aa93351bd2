/**
 * Cuts a worker from the database again and again, and shows how soon it works again and how much memory it then has:
 * `npm run chaos -- outages 6 20` for six outages of 20 seconds.
 */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { Client, Connection } from "@temporalio/client";
import { TASK_QUEUE, WORKFLOW } from "../contract/domain/mod.ts";
import { clientFor } from "../runtime/temporal/mod.ts";
import { openStore } from "../store/mod.ts";
import { testFolder } from "../test/_run.ts";
import { testDatabase, testTemporal } from "../test/_servers.ts";
import { startProcess } from "../test/processes/_process.ts";

/** Time for which the memory settles before it is read. */
const SETTLE_MS = 5_000;

/** Prints a line an outage. @param outages default 6. @param seconds of each, default 20 */
export async function run([outages = "6", seconds = "20"]: readonly string[]): Promise<void> {
  const [database, temporal] = await Promise.all([testDatabase(), testTemporal()]);
  const worker = await startProcess("worker", { database, temporal, folder: await testFolder() });
  const store = openStore(database.urls.worker, "worker");
  const connection = await Connection.connect({ address: temporal.address });
  const { workflow } = clientFor(new Client({ connection, namespace: temporal.namespace }), store);
  const work = async (n: number) => {
    const workflowId = `outage-${n}`;
    const beganMs = performance.now();
    await workflow.execute(WORKFLOW.reconcileRuns, { taskQueue: TASK_QUEUE.itsm, workflowId });
    const took = ((performance.now() - beganMs) / 1_000).toFixed(1);
    await sleep(SETTLE_MS);
    console.log(`after ${n} outages: a run took ${took} s, ${memoryMib(worker.pid)} MiB`);
  };
  try {
    await worker.line(/^ready$/);
    await work(0);
    for (let n = 1; n <= Number(outages); n++) {
      worker.database.cut();
      await sleep(Number(seconds) * 1_000);
      worker.database.restore();
      await work(n);
    }
  } finally {
    await worker.kill();
    await Promise.all([connection.close(), store.close()]);
    await database.drop();
  }
}

/** Returns the memory of a process that is in RAM. @see proc(5) */
function memoryMib(pid: number): number {
  const [, kib] = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))!;
  return Math.round(Number(kib) / 1_024);
}
