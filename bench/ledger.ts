/**
 * Whether the public ledger stays as fast as it grows: time of a request with many receipts against that with 1,000;
 * how fast receipts are exported, against a server that streams a file of the same bytes; and what that takes of memory.
 *
 * Both ledgers and the bare server are processes of their own. Requests come one after the other.
 */
import { execFileSync } from "node:child_process";
import { createWriteStream } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { freePort, testDatabase, testFolder } from "../test/_servers.ts";
import { type Figure, inTurns } from "./_figures.ts";
import { fillLedger } from "./_fill.ts";
import { ask, type Server, startServer } from "./_servers.ts";

const ROUNDS = 15;
const REQUESTS = 30;
const FEW = 1_000;
/** As many as are asked for: a million takes some minutes to make and to verify. */
const MANY = Number(process.env.RECEIPTS ?? 50_000);
const EXPORTED = 10_000;
const NDJSON = { accept: "application/x-ndjson", "accept-encoding": "identity" };

interface Ledger {
  readonly server: Server;
  readonly ids: readonly string[];
  close(): Promise<void>;
}

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const [few, many] = [await openLedger(FEW), await openLedger(MANY)];
  try {
    yield* requests(few, many);
    yield* exports(many);
  } finally {
    await few.close();
    await many.close();
  }
}

/** A ledger whose server has verified all that it holds. */
async function openLedger(count: number): Promise<Ledger> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const ids = await fillLedger(database, count);
  const server = await startServer("../dist/processes/ledger.js", [], {
    SEALOOP_DATA: folder,
    SEALOOP_DATABASE_LEDGER_URL: database.urls.ledger,
    SEALOOP_LEDGER_PORT: String(await freePort()),
  });
  while (true) {
    const { verified_through } = await (await fetch(`${server.address}/api/chain`)).json() as {
      verified_through: number;
    };
    if (verified_through === count - 1) break;
    await sleep(250);
  }
  const close = async () => {
    await server.stop();
    await database.drop();
  };
  return { server, ids, close };
}

async function* requests(few: Ledger, many: Ledger): AsyncGenerator<Figure> {
  const addresses: Readonly<Record<string, (id: string) => string>> = {
    "/api/stats": () => "/api/stats",
    "/api/receipts": () => "/api/receipts",
    "/api/chain": () => "/api/chain",
    "/api/receipt/{id}": (id) => `/api/receipt/${id}`,
    "/api/verify/{prefix}": (id) => `/api/verify/${id.slice(0, 12)}`,
  };
  const size = MANY.toLocaleString("en");
  for (const [name, pathOf] of Object.entries(addresses)) {
    const time = ({ server, ids }: Ledger) => async () => {
      const paths = Array.from({ length: REQUESTS }, () => pathOf(anyOf(ids)));
      return await ask(server.address, paths, 1) / REQUESTS;
    };
    const times = await inTurns(ROUNDS, { bare: time(few), house: time(many) });
    const baseline = `with ${FEW.toLocaleString("en")}`;
    yield { what: `GET ${name}, ms, ${size} receipts`, ...times, baseline, goal: "≤ 1.3" };
  }
}

const anyOf = <T>(items: readonly T[]) => items[Math.floor(Math.random() * items.length)]!;

async function* exports({ server }: Ledger): AsyncGenerator<Figure> {
  const path = `/api/export?from=0&to=${EXPORTED}`;
  const file = join(await testFolder(), "export.ndjson");
  await pipeline(await open(server.address + path), createWriteStream(file));
  const bare = await startServer("./_bare_static.ts", [file]);
  const rate = (url: string) => async () => {
    const started = performance.now();
    return await length(await open(url)) / 1e6 / (performance.now() - started) * 1000;
  };
  const rates = await inTurns(ROUNDS, {
    bare: rate(bare.address),
    house: rate(server.address + path),
  });
  await bare.stop();
  yield { what: "export, MB/s", ...rates, baseline: "a file streamed" };

  const sizes: number[] = [];
  const watch = setInterval(() => sizes.push(memory(server)), 250);
  await length(await open(`${server.address}/api/export`));
  clearInterval(watch);
  const most = Math.max(...sizes, memory(server));
  const what = `memory while ${MANY.toLocaleString("en")} are exported, MB`;
  yield { what, house: [most], goal: "< 200" };
}

function open(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { headers: NDJSON }, (response) => {
      if (response.statusCode === 200) resolve(response);
      else reject(new Error(`${url} was answered ${response.statusCode}`));
    }).once("error", reject);
  });
}

async function length(response: IncomingMessage): Promise<number> {
  let bytes = 0;
  for await (const chunk of response) bytes += chunk.length;
  return bytes;
}

/** Resident memory of a server, MB. */
function memory({ process }: Server): number {
  return Number(execFileSync("ps", ["-o", "rss=", "-p", String(process.pid)]).toString()) / 1000;
}
