/**
 * Whether the public ledger stays as fast as it grows: time of a request with many receipts against that with 1,000,
 * while the server verifies them for the first time and afterwards; how fast receipts are exported, against a server that
 * streams a file of the same bytes, and what that takes of memory; how long a server takes to know its chain.
 *
 * Both ledgers and the bare server are processes of their own. Requests come one after the other.
 */
import { execFileSync } from "node:child_process";
import { freePort, testFolder } from "../test/_run.ts";
import { testDatabase } from "../test/_servers.ts";
import { createWriteStream } from "node:fs";
import { get, type IncomingMessage } from "node:http";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { type Figure, inTurns } from "./_figures.ts";
import { fillLedger } from "./_fill.ts";
import { ask, type Server, startServer } from "./_servers.ts";

const ROUNDS = 15;
/** While the chain is verified. */
const ROUNDS_MEANWHILE = 9;
const REQUESTS = 30;
const FEW = 1_000;
/** As many as are asked for: a million takes some minutes to make and to verify. */
const MANY = Number(process.env.RECEIPTS ?? 50_000);
const COUNT = MANY.toLocaleString("en");
const EXPORTED = 10_000;
const NDJSON = { accept: "application/x-ndjson", "accept-encoding": "identity" };

interface Ledger {
  readonly server: Server;
  readonly ids: readonly string[];
  /** Waits until the server has verified all that it holds. */
  verified(): Promise<void>;
  /** Starts the server anew, with what it has kept. */
  restart(): Promise<void>;
  close(): Promise<void>;
}

/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const few = await openLedger(FEW);
  await few.verified();
  const many = await openLedger(MANY);
  try {
    const first = secondsUntil(() => many.verified());
    yield* requests(few, many, { rounds: ROUNDS_MEANWHILE, when: " while all is verified" });
    yield { what: `first start until ${COUNT} receipts are verified, s`, house: [await first] };
    yield* requests(few, many, { rounds: ROUNDS, when: "" });
    yield* exports(many);
    const house = [await secondsUntil(() => many.restart())];
    yield { what: `next start until ${COUNT} receipts are known, s`, house };
  } finally {
    await few.close();
    await many.close();
  }
}

async function secondsUntil(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return (performance.now() - started) / 1000;
}

/** A ledger with a server. */
async function openLedger(count: number): Promise<Ledger> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const ids = await fillLedger(database, count);
  const start = async () =>
    await startServer("../dist/processes/ledger.js", [], {
      SEALOOP_DATA: folder,
      SEALOOP_DATABASE_LEDGER_URL: database.urls.ledger,
      SEALOOP_LEDGER_PORT: String(await freePort()),
    });
  let server = await start();
  const verified = async () => {
    while (true) {
      const { verified_through } = await (await fetch(`${server.address}/api/chain`)).json() as {
        verified_through: number;
      };
      if (verified_through === count - 1) return;
      await sleep(250);
    }
  };
  return {
    get server() {
      return server;
    },
    ids,
    verified,
    async restart() {
      await server.stop();
      server = await start();
      await verified();
    },
    async close() {
      await server.stop();
      await database.drop();
    },
  };
}

async function* requests(
  few: Ledger,
  many: Ledger,
  { rounds, when }: { readonly rounds: number; readonly when: string },
): AsyncGenerator<Figure> {
  const addresses: Readonly<Record<string, (id: string) => string>> = {
    "/api/stats": () => "/api/stats",
    "/api/receipts": () => "/api/receipts",
    "/api/chain": () => "/api/chain",
    "/api/receipt/{id}": (id) => `/api/receipt/${id}`,
    "/api/verify/{prefix}": (id) => `/api/verify/${id.slice(0, 12)}`,
  };
  for (const [name, pathOf] of Object.entries(addresses)) {
    const time = ({ server, ids }: Ledger) => async () => {
      const paths = Array.from({ length: REQUESTS }, () => pathOf(anyOf(ids)));
      return await ask(server.address, paths, 1) / REQUESTS;
    };
    const times = await inTurns(rounds, { bare: time(few), house: time(many) });
    const baseline = `with ${FEW.toLocaleString("en")}`;
    yield { what: `GET ${name}${when}, ms, ${COUNT} receipts`, ...times, baseline, goal: "≤ 1.3" };
  }
}

const anyOf = <T>(items: readonly T[]) => items[Math.floor(Math.random() * items.length)]!;

async function* exports({ server }: Pick<Ledger, "server">): AsyncGenerator<Figure> {
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
  const what = `memory while ${COUNT} are exported, MB`;
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
