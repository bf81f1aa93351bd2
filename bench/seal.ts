/**
 * How much of the machine's bare speed is left for sealing through the outbox: seals a second of 256 callers that each
 * wait for their receipt, against linking, signing and COPYing the same bytes in batches, with nothing else.
 *
 * Callers in this process, the sequencer and PostgreSQL in others; fsync on, one signature a receipt.
 */
import { fork } from "node:child_process";
import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { once } from "node:events";
import { join } from "node:path";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import { from as copyFrom } from "pg-copy-streams";
import { openSealer, type Sealer } from "../ledger/mod.ts";
import { openStore } from "../store/mod.ts";
import { mochaGlobalTeardown, testDatabase, testFolder } from "../test/_servers.ts";

const ROUNDS = 5;
const SEALS = 10_000;
const CALLERS = 256;
const BATCH = 1_000;
const PAD = "x".repeat(600); // about 900 bytes canonical
const signAsync = promisify(sign) as (a: null, data: Uint8Array, key: KeyObject) => Promise<Buffer>;

/** Measures, and prints two lines. */
export async function run(): Promise<void> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const script = fileURLToPath(new URL("./_sequencer.ts", import.meta.url));
  const child = fork(script, [database.urls.sequencer, join(folder, "ledger.key")], {
    execArgv: ["--import", "tsx"],
  });
  const store = openStore(database.urls.app, "app", 20);
  const sealer = await openSealer(store);
  const client = new pg.Client({ connectionString: database.superuserUrl });
  await client.connect();
  await client.query(
    "CREATE TABLE bare (position bigint PRIMARY KEY, hash bytea, record bytea, signature bytea)",
  );
  try {
    await sealMany(sealer, 1_000); // warms up
    const house: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < ROUNDS; round++) {
      bare.push(await rate(() => bareMany(client, round * SEALS)));
      house.push(await rate(() => sealMany(sealer, SEALS)));
    }
    const ratio = median(house) / median(bare);
    console.log(
      `seals/s, ${CALLERS} callers, 900 B, fsync   ${range(house)}   ${
        ratio.toFixed(2)
      } of link + sign + COPY (${Math.round(median(bare))})`,
    );
    console.log(`request to sealed, 1 caller, ms   ${await latency(sealer)}`);
  } finally {
    await client.end();
    await sealer.close();
    await store.close();
    child.disconnect();
    await once(child, "exit");
    await mochaGlobalTeardown();
  }
}

async function sealMany(sealer: Sealer, count: number): Promise<void> {
  let left = count;
  await Promise.all(Array.from({ length: CALLERS }, async () => {
    while (left-- > 0) await sealOne(sealer);
  }));
}

async function sealOne(sealer: Sealer): Promise<void> {
  const { id } = await sealer.request({
    category: "bench",
    actor: "bench",
    subject: "subject",
    action: "seal",
    outcome: "ok",
    details: { pad: PAD },
  });
  await sealer.sealed(id);
}

async function bareMany(client: pg.Client, first: number): Promise<void> {
  const { privateKey } = generateKeyPairSync("ed25519");
  let previous = "";
  for (let at = first; at < first + SEALS; at += BATCH) {
    const linked = Array.from({ length: BATCH }, (_, n) => {
      const record = Buffer.from(
        JSON.stringify({
          action: "seal",
          details: { pad: PAD },
          position: at + n,
          previous,
          rest: "y".repeat(150),
        }),
      );
      const hash = createHash("sha256").update(record).digest();
      previous = hash.toString("hex");
      return { position: at + n, record, hash };
    });
    const signatures = await Promise.all(
      linked.map(({ record }) => signAsync(null, record, privateKey)),
    );
    const lines = linked.map(({ position, record, hash }, n) =>
      `${position}\t\\\\x${hash.toString("hex")}\t\\\\x${record.toString("hex")}\t\\\\x${
        signatures[n]!.toString("hex")
      }\n`
    );
    await pipeline(Readable.from([lines.join("")]), client.query(copyFrom("COPY bare FROM STDIN")));
  }
}

async function rate(work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return SEALS / ((performance.now() - started) / 1000);
}

async function latency(sealer: Sealer): Promise<string> {
  const times: number[] = [];
  for (let n = 0; n < 500; n++) {
    const started = performance.now();
    await sealOne(sealer);
    times.push(performance.now() - started);
  }
  times.sort((a, b) => a - b);
  return `p50 ${times[250]!.toFixed(1)}   p99 ${times[495]!.toFixed(1)}`;
}

const median = (values: readonly number[]) =>
  [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!;
const range = (values: readonly number[]) =>
  `${Math.round(median(values))} (${Math.round(Math.min(...values))}–${
    Math.round(Math.max(...values))
  })`;
