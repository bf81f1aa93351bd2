/**
 * A sweep over 500 services, all of which answer or none of which does, against requests to the same addresses with as
 * many at once; and the grouping of 2,000 findings in a graph of 10,000 services, against one walk over the graph.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createTimeoutSignal } from "../contract/mod.ts";
import { detectAll, type Groupable, groupFindings } from "../judgement/detection/mod.ts";
import { putService } from "../store/cmdb/mod.ts";
import { createTestContext } from "../test/judgement/detection/_context.ts";
import { type Figure, measureInTurns } from "./_figures.ts";
import { rounds, runConcurrently, scaled, timeMs } from "./_work.ts";

const ROUNDS = rounds(5);
const SERVICES = scaled(500);
/** As the detector has them. */
const CONCURRENCY = 256;
const TIMEOUT_MS = 2_000;
const FINDINGS = scaled(2_000);
const GRAPH_SERVICES = scaled(10_000);

/** Measures sweeps and grouping. */
export async function* run(): AsyncGenerator<Figure> {
  const context = await createTestContext("service_probes: {}");
  const server = await startProbedServer();
  try {
    for (const [path, verb] of [["/", "answer"], ["/hang", "hang"]] as const) {
      const url = new URL(path, server.address).href;
      for (let n = 0; n < SERVICES; n++) {
        await putService(context.store.asPlatform(), {
          name: `s${n}`,
          type: "service",
          host: "localhost",
          owner: null,
          origin: "file",
          restart: null,
          check: { http: url },
          watched: true,
          dependsOn: [],
        });
      }
      const times = await measureInTurns(ROUNDS, {
        baseline: () => seconds(() => requestAll(url)),
        platform: () => seconds(() => detectAll(context, { save: true })),
      });
      yield {
        label: `a sweep of ${SERVICES} services that all ${verb}, s`,
        ...times,
        baselineLabel: `fetch, ${CONCURRENCY} at once`,
        goal: "< 10 s",
      };
    }
  } finally {
    server.stop();
    await context.close();
  }
  yield await measureGrouping();
}

async function requestAll(url: string): Promise<void> {
  await runConcurrently(SERVICES, CONCURRENCY, async () => {
    const response = fetch(url, { signal: createTimeoutSignal(TIMEOUT_MS) });
    await response.then((answer) => answer.arrayBuffer(), () => {}); // those that hang time out
  });
}

async function measureGrouping(): Promise<Figure> {
  const names = Array.from({ length: GRAPH_SERVICES }, (_, n) => `s${n}`);
  const dependsOn = new Map(
    names.map((name, n) => [name, [1, 2, 3, 5, 8].flatMap((step) => names[n + step * 7] ?? [])]),
  );
  const findings = names.slice(-FINDINGS).map((service): Groupable & { fingerprint: string } => ({
    service,
    host: null,
    fingerprint: service,
    detector: "service_probes",
    code: "refused",
    severity: "high",
  }));
  const times = await measureInTurns(ROUNDS, {
    baseline: () => seconds(() => walk(dependsOn, names)),
    platform: () => seconds(() => groupFindings(findings, { dependsOn, hosts: new Map() })),
  });
  const label = `${FINDINGS.toLocaleString("en")} findings grouped, s`;
  return { label, ...times, baselineLabel: "one walk over the graph" };
}

function walk(dependsOn: ReadonlyMap<string, readonly string[]>, from: readonly string[]): number {
  const visited = new Set<string>();
  const next = [...from];
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    if (visited.has(name)) continue;
    visited.add(name);
    next.push(...dependsOn.get(name) ?? []);
  }
  return visited.size;
}

async function seconds(work: () => unknown): Promise<number> {
  return (await timeMs(work)) / 1000;
}

/** A server in a process of its own, in plain JavaScript. It answers everything but `/hang`. */
const PROBED_SERVER = `
  require("node:http").createServer((request, response) => {
    if (request.url !== "/hang") response.end();
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });
`;

async function startProbedServer() {
  const child = spawn(process.execPath, ["-e", PROBED_SERVER], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [port] = await once(child.stdout, "data");
  return { address: `http://127.0.0.1:${String(port).trim()}`, stop: () => void child.kill() };
}
