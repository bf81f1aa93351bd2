/**
 * The cost of an incident: processor seconds of each process and server, and bytes on the disk. `INCIDENTS` incidents
 * (default 100) are found, repaired, verified and sealed, ten at a time; the idle platform's use is taken off.
 */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createServiceFinding } from "../judgement/detection/mod.ts";
import { startAttributes, TASK_QUEUE, WORKFLOW } from "../contract/domain/mod.ts";
import type { Service } from "../integrations/host/mod.ts";
import { putServices } from "../store/cmdb/mod.ts";
import { type CompiledPlatform, startCompiledPlatform } from "../test/workflows/_compiled.ts";
import type { itsmLoop } from "../workflows/mod.ts";
import { DOWN_CODE, openDownServices } from "./_down_services.ts";
import { runConcurrently } from "./_work.ts";

const INCIDENTS = Number(process.env.INCIDENTS ?? 100);
const WARM_UP = 10;
const CONCURRENCY = 10;
const IDLE_MS = 20_000;
/** Clock ticks a second, as Linux has it on every architecture that runs this. */
const TICKS = 100;

/** Processor seconds by the name of the process or server, those of its children included. */
type Seconds = ReadonlyMap<string, number>;

/** Bytes on the disk. */
interface Bytes {
  /** By the name of the table, its indexes included. */
  readonly tables: ReadonlyMap<string, number>;
  readonly temporal: number;
  /** The number of receipts. */
  readonly receipts: number;
}

/** Measures incidents, and prints what one of them costs. */
export async function run(): Promise<void> {
  const platform = await startCompiledPlatform((text) => console.error(`    ${text}`));
  const services = await openDownServices(platform.dataDir);
  try {
    const all = Array.from(
      { length: WARM_UP + INCIDENTS },
      (_, n) => services.describe(`cost-${n}`),
    );
    await putServices(platform.store.asPlatform(), all);
    await runIncidents(platform, all.slice(0, WARM_UP));
    const idle = await measureSeconds(platform, () => sleep(IDLE_MS));
    const before = await readBytes(platform);
    const busy = await measureSeconds(
      platform,
      () => runIncidents(platform, all.slice(WARM_UP)),
    );
    printSeconds(idle, busy);
    printBytes(before, await readBytes(platform));
  } finally {
    await services.close();
    await platform.close();
  }
}

async function runIncidents(
  { client, store }: CompiledPlatform,
  services: readonly Service[],
): Promise<void> {
  await runConcurrently(services.length, CONCURRENCY, async (n) => {
    const finding = await createServiceFinding(store, services[n]!, DOWN_CODE);
    const { outcome } = await client.workflow.execute<typeof itsmLoop>(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `loop-${finding.fingerprint}`,
      args: [finding],
      typedSearchAttributes: startAttributes(finding),
    });
    if (outcome !== "sealed") throw new Error(`The loop of ${services[n]!.name} ended ${outcome}`);
  });
}

/** Processor seconds that were used while something ran, and how long it took. */
interface Usage {
  readonly seconds: Seconds;
  readonly wallSeconds: number;
}

async function measureSeconds(
  platform: CompiledPlatform,
  work: () => Promise<unknown>,
): Promise<Usage> {
  const before = readSeconds(platform);
  const startedMs = performance.now();
  await work();
  const wallSeconds = (performance.now() - startedMs) / 1000;
  const after = readSeconds(platform);
  const seconds = new Map([...after].map(([name, value]) => [name, value - before.get(name)!]));
  return { seconds, wallSeconds };
}

function readSeconds({ processes }: CompiledPlatform): Seconds {
  const used = new Map<number, number>();
  const parents = new Map<number, number>();
  for (const name of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    const fields = readStat(name);
    if (!fields) continue;
    parents.set(Number(name), Number(fields[1]));
    used.set(Number(name), fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0));
  }
  const isBelow = (pid: number, ancestor: number): boolean =>
    pid === ancestor || (pid > 1 && isBelow(parents.get(pid) ?? 0, ancestor));
  return new Map([...processes()].map(([name, pid]) => {
    const pids = [...used.keys()].filter((each) => isBelow(each, pid));
    return [name, pids.reduce((sum, each) => sum + used.get(each)!, 0) / TICKS];
  }));
}

/** Returns the fields of `/proc/PID/stat` from the state on, or undefined where the process has ended. */
function readStat(pid: string): readonly string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8").replace(/^.*\) /s, "").split(" ");
  } catch {
    return undefined;
  }
}

async function readBytes({ store, dataDir }: CompiledPlatform): Promise<Bytes> {
  const db = store.asPlatform();
  const rows = await db.query(
    `SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
      WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
  );
  const [counted] = await db.query("SELECT count(*)::int FROM receipts");
  const folder = join(dataDir, "temporal");
  const temporal = readdirSync(folder).filter((name) => name.includes(".db"))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  return {
    tables: new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)])),
    temporal,
    receipts: Number(counted!.count),
  };
}

function printSeconds(idle: Usage, busy: Usage): void {
  const share = busy.wallSeconds / idle.wallSeconds;
  console.log("| core-seconds an incident | |\n| --- | --- |");
  let all = 0;
  for (const [name, seconds] of busy.seconds) {
    const own = (seconds - idle.seconds.get(name)! * share) / INCIDENTS;
    all += own;
    console.log(`| ${name} | ${own.toFixed(3)} |`);
  }
  console.log(`| together | ${all.toFixed(3)} |`);
  console.log(`\n${INCIDENTS} incidents in ${busy.wallSeconds.toFixed(1)} s`);
}

function printBytes(before: Bytes, after: Bytes): void {
  const kib = (bytes: number) => (bytes / INCIDENTS / 1024).toFixed(1);
  const grown = [...after.tables].map(([name, bytes]) =>
    [name, bytes - (before.tables.get(name) ?? 0)] as const
  ).filter(([, bytes]) => bytes > 0).sort(([, a], [, b]) => b - a);
  console.log(`${(after.receipts - before.receipts) / INCIDENTS} receipts an incident\n`);
  console.log("| KiB an incident | |\n| --- | --- |");
  for (const [name, bytes] of grown) console.log(`| ${name} | ${kib(bytes)} |`);
  console.log(`| database | ${kib(grown.reduce((sum, [, bytes]) => sum + bytes, 0))} |`);
  console.log(`| Temporal | ${kib(after.temporal - before.temporal)} |`);
}
