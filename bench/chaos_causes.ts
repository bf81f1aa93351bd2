/**
 * Breaks services of this machine in ten ways, each by two programs, and lets the incident loop name the cause; five more
 * have the words of another fault. Prints which causes were named, and what was done. `CASES=3,14` runs some of them alone;
 * `SHOW=1` prints the observations, too; `SAVE=evals/causes/observed.jsonl` keeps what `npm run eval -- causes` judges again;
 * `POSTMORTEMS=folder` keeps the draft of each postmortem.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { openSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { type NumberedObservation, TASK_QUEUE, WORKFLOW } from "../contract/domain/mod.ts";
import {
  actOnce,
  findManagedProcess,
  type HealthCheck,
  probe,
  type Service,
  stopManagedProcess,
} from "../integrations/host/mod.ts";
import { createServiceFinding } from "../judgement/detection/mod.ts";
import { draftPostmortem } from "../operations/incidents/tickets/mod.ts";
import { stopProcess } from "../runtime/embedded/mod.ts";
import { putServices } from "../store/cmdb/mod.ts";
import { getTicket, listObservations, listTicketEvents } from "../store/incidents/mod.ts";
import { freePort, TEST_DETECTORS, testFolder } from "../test/_run.ts";
import { openLoop, type TestLoop } from "../test/workflows/_loop.ts";
import { listEffectsOn } from "../test/workflows/_ticket_record.ts";
import type { itsmLoop } from "../workflows/mod.ts";
import { type Fault, type FaultPlace, FAULTS } from "./_faults.ts";
import { runConcurrently } from "./_work.ts";

const CONCURRENCY = 3;
const HEALTHY_WITHIN_MS = 30_000;
const BROKEN_WITHIN_MS = 60_000;
const ASK_MS = 2_000;
const NODE_FLAGS = (heapMiB: number | undefined) =>
  heapMiB === undefined ? [] : [`--max-old-space-size=${heapMiB}`];

/** Outcome of a fault. */
interface Judged {
  readonly number: number;
  readonly fault: Fault;
  /** Why it was not run. */
  readonly skipped?: string;
  readonly symptom: string;
  readonly cause: string | null;
  readonly confidence: number;
  readonly because: readonly string[];
  readonly observations: readonly NumberedObservation[];
  readonly restarts: number;
  readonly outcome: string;
  readonly seconds: number;
}

/** Breaks, and prints a table of its own. */
export async function run(): Promise<void> {
  const detectors = join(await testFolder(), "detectors.yaml");
  await writeFile(detectors, await readFile(TEST_DETECTORS, "utf8"));
  const loop = await openLoop({ settings: { SEALOOP_DETECTORS: detectors } });
  try {
    const chosen = (process.env.CASES ?? "").split(",").filter(Boolean).map(Number);
    const cases = FAULTS.map((fault, index) => ({ fault, number: index + 1 }))
      .filter(({ number }) => chosen.length === 0 || chosen.includes(number));
    const judged = await runConcurrently(cases.length, CONCURRENCY, async (n) => {
      const { fault, number } = cases[n]!;
      const result = await judge(loop, fault, number);
      console.error(
        `    ${number} ${fault.cause}: ${result.skipped ?? `${result.cause} ${result.confidence}`}`,
      );
      for (const line of result.because) console.error(`        ${line}`);
      return result;
    });
    if (process.env.SAVE) await save(process.env.SAVE, judged, loop.config.dataDir);
    console.log(formatTable(judged));
    console.log(formatTotals(judged));
    if (judged.some((one) => !one.skipped && one.cause !== one.fault.cause)) process.exitCode = 1;
  } finally {
    await loop.stop();
  }
}

/** Writes what was seen of each fault, without the folders of this machine. */
async function save(path: string, judged: readonly Judged[], dataDir: string): Promise<void> {
  const lines = judged.filter(({ skipped }) => !skipped)
    .map(({ fault: { cause, broken }, symptom, observations }) =>
      JSON.stringify({ cause, broken, code: symptom, observations })
        .replaceAll(dataDir, "/srv/data")
    );
  await writeFile(path, lines.join("\n") + "\n");
}

/** Runs a service, breaks it, and reads what the loop says. */
async function judge(loop: TestLoop, fault: Fault, number: number): Promise<Judged> {
  const started = performance.now();
  const nothing = {
    number,
    fault,
    symptom: "",
    cause: null,
    confidence: 0,
    because: [],
    observations: [],
  };
  const site = await openSite(loop, fault, number);
  try {
    try {
      await site.start();
    } catch (error) {
      const seconds = (performance.now() - started) / 1_000;
      const skipped = String((error as Error).message).split("\n")[0]!;
      return { ...nothing, restarts: 0, outcome: "", seconds, skipped };
    }
    const code = await site.break();
    const finding = await createServiceFinding(loop.store, site.service(), code);
    const { ticket_id, outcome } = await loop.client.workflow.execute<typeof itsmLoop>(
      WORKFLOW.itsmLoop,
      { taskQueue: TASK_QUEUE.itsm, workflowId: `loop-${finding.fingerprint}`, args: [finding] },
    );
    const db = loop.store.asPlatform();
    const events = ticket_id === null ? [] : await listTicketEvents(db, ticket_id);
    const diagnosis = events.find(({ kind }) => kind === "diagnosed")?.data as {
      readonly cause: string | null;
      readonly cause_confidence: number;
      readonly observations: readonly number[];
    } | undefined;
    const seen = ticket_id === null ? [] : await listObservations(db, ticket_id);
    const ticket = ticket_id === null ? undefined : await getTicket(db, ticket_id);
    if (process.env.POSTMORTEMS && ticket) {
      await mkdir(process.env.POSTMORTEMS, { recursive: true });
      const text = await draftPostmortem(loop.store, ticket, "http://ledger.example");
      await writeFile(join(process.env.POSTMORTEMS, `${number}-${fault.cause}.md`), String(text));
    }
    const isShown = process.env.SHOW === "1";
    return {
      number,
      fault,
      symptom: code,
      cause: diagnosis?.cause ?? null,
      confidence: diagnosis?.cause_confidence ?? 0,
      because: seen.filter((one) =>
        isShown ? one.round === 1 : diagnosis?.observations.includes(one.number)
      ).map(({ number, source, says, text = "", figures }) =>
        `${number} ${source}: ${says}${
          isShown ? ` ${JSON.stringify(figures)}\n${text.slice(-600)}` : ""
        }`
      ),
      observations: seen.filter(({ round }) => round === 1),
      restarts: (await listEffectsOn(loop.store, `shop-${number}`))
        .filter(({ step }) => step === "restart").length,
      outcome,
      seconds: (performance.now() - started) / 1_000,
    };
  } finally {
    await site.close();
  }
}

/** A service in a folder of its own. */
async function openSite({ store, config: { dataDir } }: TestLoop, fault: Fault, number: number) {
  const name = `shop-${number}`;
  const folder = join(dataDir, "sites", name);
  const port = await freePort();
  const check: HealthCheck = {
    http: `${fault.secure ? "https" : "http"}://127.0.0.1:${port}/health`,
  };
  const isManaged = fault.isManaged !== false;
  const children: ChildProcess[] = [];
  const cleanUps: (() => unknown)[] = [];
  let service: Service;
  let launch: { command: string[]; cwd: string; env: Record<string, string> };
  let own: ChildProcess | undefined;

  const startProcess = async () => {
    if (isManaged) {
      const effectId = randomBytes(12).toString("hex");
      await actOnce({ dataDir, effectId, service: name, act: { process: launch } });
    } else own = startChild(launch.command);
  };
  function startChild([program, ...args]: readonly string[]): ChildProcess {
    const out = openSync(join(folder, "out.txt"), "a");
    const child = spawn(program!, args, {
      cwd: folder,
      env: { PATH: process.env.PATH!, ...launch.env },
      stdio: ["ignore", out, out],
    });
    children.push(child);
    return child;
  }
  const place: FaultPlace = {
    folder,
    port,
    ask: (path = "/health") =>
      fetch(`http://127.0.0.1:${port}${path}`, { signal: AbortSignal.timeout(ASK_MS) })
        .then((reply) => reply.text()).catch(() => undefined),
    restart: async () => {
      await place.end();
      await startProcess();
      await sleep(1_500);
    },
    async end() {
      if (isManaged) {
        const running = findManagedProcess(dataDir, name);
        if (running) await stopProcess(running, "SIGTERM", 3_000);
      } else await endChild(own);
    },
    async startOther(argv) {
      startChild(argv);
      await until(async () => (await probe({ tcp: `127.0.0.1:${port}` })).healthy);
    },
    cleanUp: (work) => void cleanUps.push(work),
  };

  return {
    service: () => service,
    async start() {
      await mkdir(folder, { recursive: true });
      const { name: file, text } = fault.program;
      await writeFile(join(folder, file), text);
      const { env = {}, args = [], dependsOn } = await fault.prepare?.(place) ?? {};
      const program = file === "app.py"
        ? ["python3", join(folder, file), String(port)]
        : [process.execPath, ...NODE_FLAGS(fault.heapMiB), join(folder, file), String(port)];
      const command = [...program, ...args];
      launch = {
        command: fault.limit
          ? ["sh", "-c", `${fault.limit}; exec "$@"`, "sh", ...command]
          : command,
        cwd: folder,
        env,
      };
      const needed = dependsOn === undefined ? [] : [{
        ...describe(`${name}-stock`),
        check: { http: dependsOn },
      }];
      service = {
        ...describe(name),
        check,
        restart: isManaged ? { process: launch } : null,
        dependsOn: needed.map(({ name }) => ({ service: name, kind: "depends_on" as const })),
      };
      await putServices(store.asPlatform(), [...needed, service]);
      await startProcess();
      await until(async () => (await probe({ tcp: `127.0.0.1:${port}` })).healthy);
    },
    /** Breaks the service. @returns code of the failed check */
    async break() {
      await fault.strike?.(place);
      let code = "ok";
      await until(async () => (code = (await probe(check)).code) !== "ok", BROKEN_WITHIN_MS);
      return code;
    },
    async close() {
      await stopManagedProcess(dataDir, name);
      for (const child of children) await endChild(child);
      for (const work of cleanUps) await work();
    },
  };
}

const describe = (name: string): Service => ({
  name,
  type: "web",
  host: "127.0.0.1",
  owner: null,
  origin: "file",
  watched: false,
  check: null,
  restart: null,
  dependsOn: [],
});

async function endChild(child: ChildProcess | undefined): Promise<void> {
  if (!child || child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once("exit", resolve));
  child.kill("SIGKILL");
  await ended;
}

async function until(holds: () => Promise<boolean>, withinMs = HEALTHY_WITHIN_MS): Promise<void> {
  const deadline = Date.now() + withinMs;
  while (!await holds()) {
    if (Date.now() > deadline) throw new Error("It did not happen in time");
    await sleep(50);
  }
}

const HEAD = [
  "#",
  "broken",
  "symptom",
  "true cause",
  "named",
  "confidence",
  "restarts",
  "outcome",
  "s",
];

function formatTable(judged: readonly Judged[]): string {
  const line = (cells: readonly unknown[]) => `| ${cells.join(" | ")} |`;
  const rows = judged.map(({ number, fault, skipped, ...one }) => [
    number,
    `${fault.isControl ? "control: " : ""}${fault.broken}`,
    one.symptom,
    fault.cause,
    skipped ? `skipped: ${skipped}` : one.cause ?? "unknown",
    one.confidence,
    one.restarts,
    one.outcome,
    one.seconds.toFixed(0),
  ]);
  return [line(HEAD), line(HEAD.map(() => "---")), ...rows.map(line)].join("\n");
}

function formatTotals(judged: readonly Judged[]): string {
  const ran = judged.filter(({ skipped }) => skipped === undefined);
  const faults = ran.filter(({ fault }) => !fault.isControl);
  const controls = ran.filter(({ fault }) => fault.isControl);
  const isRight = ({ cause, fault }: Judged) => cause === fault.cause;
  const isWrong = (one: Judged) => one.cause !== null && !isRight(one);
  const needless = ran.filter(({ fault }) => !fault.restartHelps)
    .reduce((sum, { restarts }) => sum + restarts, 0);
  return `\n${faults.filter(isRight).length} of ${faults.length} causes named right, ` +
    `${faults.filter(isWrong).length} wrong; of ${controls.length} controls ` +
    `${controls.filter(isRight).length} right, ${controls.filter(isWrong).length} wrong; ` +
    `${judged.length - ran.length} skipped; ${needless} restarts that could not help`;
}
