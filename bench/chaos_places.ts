/**
 * Lets services at three places fail, each at `127.0.0.1:9000` of its own machine, and then kills a place:
 * `npm run chaos -- places 100` for 100 faults. Machines are network namespaces; where the system makes none, the services
 * have three ports.
 */
import { testFolder } from "../test/_run.ts";
import { startProcess } from "../test/processes/_process.ts";
import { serveEngine } from "../test/judgement/engine/_engine.ts";
import { openLoop, type TestLoop } from "../test/workflows/_loop.ts";
import { quantile } from "./_figures.ts";
import { namespaceProblem, openNamespace } from "./_namespace.ts";
import { breakPlaces, type FaultyPlace, judgeReceipts, losePlace, stopService } from "./_places.ts";

const PORT = 9_000;
const NAMES = ["n1", "n2", "n3"];
/** An incident of a lost place is with people by then. */
const MAX_LOST_SECONDS = 90;

type Engine = Awaited<ReturnType<typeof serveEngine>>;

/** Prints a line a fault. @param count of faults, default 100 */
export async function run([count = "100"]: readonly string[]): Promise<void> {
  const problem = namespaceProblem();
  console.log(
    problem === undefined
      ? `Three network namespaces, each with a service at 127.0.0.1:${PORT}`
      : `Three ports, as there are no network namespaces here: ${problem}`,
  );
  let engine: Engine | undefined;
  const loop = await openLoop({
    settings: { SEALOOP_PLACE: "control.example.net" },
    serve: async (databaseUrl) => engine = await serveEngine(databaseUrl),
  });
  const opened: Awaited<ReturnType<typeof openPlace>>[] = [];
  try {
    for (const [n, name] of NAMES.entries()) {
      const port = problem === undefined ? PORT : PORT + n;
      opened.push(await openPlace(loop, engine!, { name, port, isAlone: problem === undefined }));
    }
    const platform = { store: loop.store, client: loop.client, places: opened };
    const faults = await breakPlaces(platform, Number(count), ({ service, seconds, faults }) => {
      console.log(`${service}: ${faults.join("; ") || "repaired"}, ${seconds.toFixed(1)} s`);
    });
    const lost = await losePlace(platform, opened[1]!);
    const receipts = await judgeReceipts(platform);
    const seconds = faults.map((one) => one.seconds).sort((a, b) => a - b);
    const wrong = faults.filter((one) => one.faults.length > 0).length;
    console.log(`
${faults.length} faults, ${wrong} of them not repaired once by their own place; a round took ${
      quantile(seconds, 0.5).toFixed(1)
    } s in the middle, ${quantile(seconds, 1).toFixed(1)} at most
${receipts.acts} acts in receipts, of which ${receipts.faults.length} don't name their place or don't verify
a place killed: ${lost.outcome} (${lost.reason}) after ${lost.seconds.toFixed(1)} s; ${
      lost.faults.join("; ") || "nothing was done elsewhere"
    }`);
    for (const fault of receipts.faults) console.log(fault);
    const isLate = lost.seconds > MAX_LOST_SECONDS;
    if (wrong + receipts.faults.length + lost.faults.length > 0 || isLate) process.exitCode = 1;
  } finally {
    for (const one of opened) await one.close();
    await loop.stop();
  }
}

/** Starts the worker of a place. */
async function openPlace(
  loop: TestLoop,
  engine: Engine,
  { name, port, isAlone }: {
    readonly name: string;
    readonly port: number;
    readonly isAlone: boolean;
  },
): Promise<FaultyPlace & { close(): Promise<void> }> {
  const [folder, sockets] = [await testFolder(), await testFolder()];
  const namespace = isAlone ? await openNamespace(sockets) : undefined;
  const place = `${name}.example.net`;
  const worker = await startProcess("worker", {
    database: loop.database,
    temporal: loop.place,
    folder,
    ...(namespace
      ? {
        runAt: (command, ports) =>
          namespace.runAt(command, [...ports, Number(new URL(engine.url).port)]),
      }
      : {}),
    settings: {
      SEALOOP_PLACE: place,
      SEALOOP_TASK_QUEUES: "act",
      SEALOOP_SWEEP_SECONDS: "86400",
      SEALOOP_ENGINE_URL: engine.url,
      SEALOOP_ENGINE_SECRET: engine.secret,
      SEALOOP_WEBHOOK_KEY: "5a".repeat(32),
      SEALOOP_OTS_CALENDARS: "none",
      SEALOOP_BITCOIN_SOURCES: "none",
    },
  });
  await worker.line(/^ready$/);
  return {
    place,
    folder,
    port,
    kill: () => worker.kill(),
    async close() {
      await worker.kill();
      await stopService({ folder });
      await namespace?.close();
    },
  };
}
