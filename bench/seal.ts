/**
 * How much of the machine's bare speed is left for sealing through the outbox: seals a second of 256 callers that each
 * ask and then wait until their receipt is part of the chain, against linking, signing and inserting the same bytes in
 * batches with nothing else; and how long one caller alone waits.
 *
 * The callers share this process, as they share a gateway; the sequencer and PostgreSQL are processes of their own,
 * fsync is on, and every receipt has its own signature.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSealer, type Sealer } from "../ledger/mod.ts";
import { openStore } from "../store/mod.ts";
import { testDatabase, testFolder } from "../test/_servers.ts";
import { type BareSealer, openBareSealers } from "./_bare_seal.ts";
import { type Figure, inTurns, quantile } from "./_figures.ts";

const ROUNDS = 7;
const SEALS = 10_000;
const CALLERS = 256;
const ALONE = 200;
/** Makes a receipt of about 900 bytes. */
const PAD = "x".repeat(560);

/** Measures how many, and how fast. */
export async function run(): Promise<Figure[]> {
  const [database, folder] = await Promise.all([testDatabase(), testFolder()]);
  const sequencer = startSequencer(database.urls.sequencer, join(folder, "ledger.key"));
  const store = openStore(database.urls.app, "app", 20);
  const sealer = await openSealer(store);
  try {
    await sealMany(sealer, CALLERS);
    const { rows } = await store.pool.query(
      "SELECT avg(length(record))::int AS bytes FROM receipts",
    );
    const bare = await openBareSealers(database.superuserUrl, rows[0].bytes);
    const best = await fastest(bare.sealers);
    const rates = await inTurns(ROUNDS, {
      bare: () => rate(SEALS, () => best.seal(SEALS)),
      house: () => rate(SEALS, () => sealMany(sealer, SEALS)),
    });
    await bare.close();
    const times: number[][] = [];
    for (let round = 0; round < ROUNDS; round++) times.push(await timesAlone(sealer));
    return [
      {
        what: `seals/s, ${CALLERS} callers, ${rows[0].bytes} B, fsync`,
        ...{ ...rates, baseline: best.form, goal: "≥ 0.25" },
      },
      ...[0.5, 0.99].map((share) => ({
        what: `request to sealed, 1 caller, ms, p${share * 100}`,
        house: times.map((round) => quantile(round, share)),
      })),
    ];
  } finally {
    await sealer.close();
    await store.close();
    await stopSequencer(sequencer);
    await database.drop();
  }
}

/** The sequencer in a process of its own. When that ends early, waiting for it would never end. */
function startSequencer(url: string, keyFile: string): ChildProcess {
  const script = fileURLToPath(new URL("./_sequencer.ts", import.meta.url));
  const child = fork(script, [url, keyFile], { execArgv: ["--import", "tsx"] });
  child.once("exit", (code) => {
    if (child.connected || code !== 0) console.error(`The sequencer ended with ${code}`);
  });
  return child;
}

async function stopSequencer(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, "exit");
  if (child.connected) child.disconnect();
  await ended;
}

async function fastest(sealers: readonly BareSealer[]): Promise<BareSealer> {
  const rates = new Map(sealers.map((sealer) => [sealer, [] as number[]]));
  for (let round = 0; round < 3; round++) {
    for (const [sealer, found] of rates) {
      found.push(await rate(SEALS / 2, () => sealer.seal(SEALS / 2)));
    }
  }
  const medians = [...rates].map(([sealer, found]) => ({ sealer, rate: quantile(found, 0.5) }));
  medians.sort((a, b) => b.rate - a.rate);
  for (const { sealer, rate } of medians) console.error(`  ${Math.round(rate)}/s ${sealer.form}`);
  return medians[0]!.sealer;
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

async function rate(count: number, work: () => Promise<void>): Promise<number> {
  const started = performance.now();
  await work();
  return count / ((performance.now() - started) / 1000);
}

async function timesAlone(sealer: Sealer): Promise<number[]> {
  const times: number[] = [];
  for (let n = 0; n < ALONE; n++) {
    const started = performance.now();
    await sealOne(sealer);
    times.push(performance.now() - started);
  }
  return times;
}
