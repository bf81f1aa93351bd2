/**
 * How long a sweep takes over 500 services, all of which answer or none of which does, beside asking as many of the
 * same addresses at once and nothing else; and the grouping of 2,000 findings in a graph of 10,000 services, beside one
 * walk over it.
 */
import { spawn } from "node:child_process";
import { detectAll, type Groupable, groupFindings } from "../detection/mod.ts";
import type { Service } from "../integrations/host/mod.ts";
import { once } from "node:events";
import { putService } from "../store/mod.ts";
import { createTestContext, type TestContext } from "../test/detection/_context.ts";
import { type Figure, inTurns } from "./_figures.ts";

const ROUNDS = 5;
const SERVICES = 500;
/** As the detector has them. */
const AT_ONCE = 256;
const TIMEOUT_MS = 2_000;
const FINDINGS = 2_000;
const GRAPH = 10_000;

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const world = await createTestContext("service_probes: {}");
  const server = await answering();
  try {
    for (const [path, are] of [["/", "answer"], ["/hang", "hang"]] as const) {
      const http = new URL(path, server.address).href;
      for (let i = 0; i < SERVICES; i++) await watch(world, `s${i}`, http);
      yield {
        what: `a sweep of ${SERVICES} services that all ${are}, s`,
        ...await inTurns(ROUNDS, {
          bare: () => seconds(() => askAll(http)),
          house: () => seconds(() => detectAll(world, { save: true })),
        }),
        ...{ baseline: `fetch, ${AT_ONCE} at once`, goal: "< 10 s" },
      };
    }
  } finally {
    server.stop();
    await world.close();
  }
  yield await grouping();
}

async function watch({ store }: TestContext, name: string, http: string): Promise<void> {
  const service: Service = {
    ...{ name, type: "service", host: "localhost", owner: null, origin: "file", restart: null },
    ...{ check: { http }, watched: true, dependsOn: [] },
  };
  await putService(store.asPlatform(), service);
}

async function askAll(url: string): Promise<void> {
  let left = SERVICES;
  await Promise.all(Array.from({ length: AT_ONCE }, async () => {
    while (left-- > 0) {
      const answer = fetch(url, { signal: AbortSignal.timeout(TIMEOUT_MS) });
      await answer.then((response) => response.arrayBuffer(), () => {});
    }
  }));
}

async function grouping(): Promise<Figure> {
  const names = Array.from({ length: GRAPH }, (_, i) => `s${i}`);
  const dependsOn = new Map(
    names.map((name, i) => [name, [1, 2, 3, 5, 8].flatMap((d) => names[i + d * 7] ?? [])]),
  );
  const findings = names.slice(-FINDINGS).map((service): Groupable & { fingerprint: string } => ({
    ...{ service, host: null, fingerprint: service },
    ...{ detector: "service_probes", code: "refused", severity: "high" },
  }));
  return {
    what: `${FINDINGS.toLocaleString("en")} findings grouped, s`,
    ...await inTurns(ROUNDS, {
      bare: () => seconds(() => walk(dependsOn, names)),
      house: () => seconds(() => groupFindings(findings, { dependsOn, hosts: new Map() })),
    }),
    baseline: "one walk over the graph",
  };
}

function walk(dependsOn: ReadonlyMap<string, readonly string[]>, from: readonly string[]): number {
  const seen = new Set<string>();
  const next = [...from];
  for (let name = next.pop(); name !== undefined; name = next.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    next.push(...dependsOn.get(name) ?? []);
  }
  return seen.size;
}

async function seconds(work: () => unknown): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1_000;
}

/** A process of its own, which answers but below `/hang`. */
async function answering(): Promise<{ readonly address: string; stop(): void }> {
  const code = `require("node:http").createServer((request, answer) => {
    if (request.url !== "/hang") answer.end();
  }).listen(0, "127.0.0.1", function () { console.log(this.address().port); });`;
  const child = spawn(process.execPath, ["-e", code], { stdio: ["pipe", "pipe", "inherit"] });
  const [port] = await once(child.stdout, "data");
  return { address: `http://127.0.0.1:${String(port).trim()}`, stop: () => void child.kill() };
}
