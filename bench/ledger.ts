/**
 * The public ledger as it grows: time of a request with many receipts against that with 1,000, during the first
 * verification and afterwards; the speed of the export, against a server that streams a file of the same bytes, and its
 * memory; and the time until a server knows its chain. `RECEIPTS` in the environment says how many are many.
 *
 * Both ledgers and the bare server are processes of their own. Requests come one after the other.
 */
import { execFileSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { testFolder } from "../test/_run.ts";
import { type Figure, measureInTurns } from "./_figures.ts";
import { type LedgerServer, openLedger } from "./_ledger_server.ts";
import { requestAll, type Server, startServer } from "./_servers.ts";
import { rounds, scaled, timeMs } from "./_work.ts";

const ROUNDS = rounds(15);
const ROUNDS_WHILE_VERIFYING = rounds(9);
const REQUESTS = 30;
const FEW = 1_000;
/** A million takes some minutes to make and to verify. */
const MANY = Number(process.env.RECEIPTS ?? scaled(50_000));
const COUNT = MANY.toLocaleString("en");
const EXPORTED = 10_000;
const MEMORY_SAMPLE_MS = 250;
const NDJSON = { accept: "application/x-ndjson", "accept-encoding": "identity" };
/** Paths that are requested, by their labels. */
const PATHS: Readonly<Record<string, (id: string) => string>> = {
  "/api/stats": () => "/api/stats",
  "/api/receipts": () => "/api/receipts",
  "/api/chain": () => "/api/chain",
  "/api/receipt/{id}": (id) => `/api/receipt/${id}`,
  "/api/verify/{prefix}": (id) => `/api/verify/${id.slice(0, 12)}`,
};

/** Measures requests, exports and starts. */
export async function* run(): AsyncGenerator<Figure> {
  const few = await openLedger(FEW);
  await few.waitUntilVerified();
  const many = await openLedger(MANY);
  try {
    const firstMs = timeMs(() => many.waitUntilVerified());
    yield* measureRequests(few, many, ROUNDS_WHILE_VERIFYING, " while all is verified");
    yield {
      label: `first start until ${COUNT} receipts are verified, s`,
      platform: [(await firstMs) / 1000],
    };
    yield* measureRequests(few, many, ROUNDS, "");
    yield await measureExport(many.server);
    yield await measureMemory(many.server);
    yield {
      label: `next start until ${COUNT} receipts are known, s`,
      platform: [(await timeMs(() => many.restart())) / 1000],
    };
  } finally {
    await few.close();
    await many.close();
  }
}

async function* measureRequests(
  few: LedgerServer,
  many: LedgerServer,
  roundCount: number,
  when: string,
): AsyncGenerator<Figure> {
  for (const [name, pathOf] of Object.entries(PATHS)) {
    const meanMs = ({ server, ids }: LedgerServer) => async () => {
      const paths = Array.from({ length: REQUESTS }, () => pathOf(pickOne(ids)));
      return await requestAll(server.address, paths, 1) / REQUESTS;
    };
    const times = await measureInTurns(roundCount, {
      baseline: meanMs(few),
      platform: meanMs(many),
    });
    yield {
      label: `GET ${name}${when}, ms, ${COUNT} receipts`,
      ...times,
      baselineLabel: `with ${FEW.toLocaleString("en")}`,
      goal: "≤ 1.3",
    };
  }
}

function pickOne<T>(items: readonly T[]): T {
  return items[Math.floor(Math.random() * items.length)]!;
}

async function measureExport(server: Server): Promise<Figure> {
  const path = `/api/export?from=0&to=${EXPORTED}`;
  const file = join(await testFolder(), "export.ndjson");
  await pipeline(await open(server.address + path), createWriteStream(file));
  const bare = await startServer("bench/_bare_static_program.ts", [file]);
  const rate = (url: string) => async () => {
    let bytes = 0;
    const ms = await timeMs(async () => bytes = await countBytes(await open(url)));
    return bytes / 1e6 / ms * 1000;
  };
  const rates = await measureInTurns(ROUNDS, {
    baseline: rate(bare.address),
    platform: rate(server.address + path),
  });
  await bare.stop();
  return { label: "export, MB/s", ...rates, baselineLabel: "a file streamed" };
}

async function measureMemory(server: Server): Promise<Figure> {
  const samples: number[] = [];
  const timer = setInterval(() => samples.push(readMemory(server)), MEMORY_SAMPLE_MS);
  await countBytes(await open(`${server.address}/api/export`));
  clearInterval(timer);
  const highest = Math.max(...samples, readMemory(server));
  return { label: `memory while ${COUNT} are exported, MB`, platform: [highest], goal: "< 200" };
}

function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers: NDJSON }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`GET ${url} was answered ${response.statusCode}`));
    }).once("error", reject);
  });
}

async function countBytes(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return bytes;
}

/** Returns the resident memory of a server, MB. */
function readMemory({ process }: Server): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(process.pid)]).toString()) / 1000;
}
