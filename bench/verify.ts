/**
 * Verification of a chain: receipts a second from exported text to verdict, on all cores, against their signatures alone,
 * verified on all cores by the same native code; and the speed of the canonical form beside `JSON.stringify`, for the
 * values of the same receipts. Threads have started before they are measured.
 */
import { once } from "node:events";
import { availableParallelism } from "node:os";
import { Worker } from "node:worker_threads";
import {
  canonicalize,
  exportReceipts,
  listLedgerKeys,
  type TrustedKey,
  verifyInParallel,
} from "../ledger/mod.ts";
import { openStore } from "../store/mod.ts";
import { testDatabase } from "../test/_servers.ts";
import { type Figure, measureInTurns } from "./_figures.ts";
import { fillLedger } from "./_fill_ledger.ts";
import { ratePerSecond, rounds, scaled } from "./_work.ts";

const ROUNDS = rounds(5);
const RECEIPTS = scaled(20_000);
const BATCH = 500;
/** Receipts whose canonical form is measured, and how often in a round. */
const PRINTED = 1_000;
const REPEATS = 10;

/** Canonical bytes of a receipt, and their signature. */
type SignedBytes = readonly [Buffer, Buffer];

/** Measures verification and the canonical form. */
export async function* run(): AsyncGenerator<Figure> {
  const { texts, keys } = await makeReceipts();
  const records = texts.map((text) => Buffer.from(text));
  const signed = texts.map((text): SignedBytes => {
    const { canonical_bytes, signature } = JSON.parse(text);
    return [Buffer.from(canonical_bytes, "hex"), Buffer.from(signature.value, "hex")];
  });
  const threads = openBareThreads(keys[0]!.publicKey, signed);
  const verifies = await measureInTurns(ROUNDS, {
    baseline: () => ratePerSecond(RECEIPTS, () => Promise.all(threads.map((verify) => verify()))),
    platform: () => verifyAll(records, keys),
  });
  yield {
    label: "full verification, receipts/s, all cores",
    ...verifies,
    baselineLabel: "signatures alone, all cores",
    goal: "≥ 0.8",
  };
  yield await measureCanonicalForm(signed.slice(0, PRINTED).map(([data]) => data));
}

async function makeReceipts() {
  const database = await testDatabase();
  await fillLedger(database, RECEIPTS);
  const store = openStore(database.urls.ledger, "ledger");
  const receipts = await exportReceipts(store, { from: 0, to: RECEIPTS });
  const keys = await listLedgerKeys(store);
  await store.close();
  await database.drop();
  return { texts: receipts.map(({ text }) => text), keys };
}

/** Verifies a chain. @returns receipts a second, from the moment that the threads have started */
async function verifyAll(
  records: readonly Uint8Array[],
  keys: readonly TrustedKey[],
): Promise<number> {
  let start: { readonly ms: number; readonly count: number } | undefined;
  const { total, breaks } = await verifyInParallel(batches(records), keys, {
    onProgress: (count) => start ??= { ms: performance.now(), count },
  });
  if (total !== RECEIPTS || breaks > 0) throw new Error(`${breaks} of ${total} do not hold`);
  return (total - start!.count) / (performance.now() - start!.ms) * 1000;
}

async function* batches(records: readonly Uint8Array[]): AsyncGenerator<Uint8Array[]> {
  for (let at = 0; at < records.length; at += BATCH) yield records.slice(at, at + BATCH);
}

/** Returns a function per core that has its share of the signatures verified. */
function openBareThreads(publicKey: string, signed: readonly SignedBytes[]) {
  const share = Math.ceil(signed.length / availableParallelism());
  return Array.from(
    { length: availableParallelism() },
    (_, n) => openBareThread(publicKey, signed.slice(n * share, (n + 1) * share)),
  );
}

/** A thread that verifies nothing but signatures. Plain JavaScript, as it imports nothing of the platform. */
const BARE_THREAD = `
  const { createPublicKey, verify } = require("node:crypto");
  const { parentPort, workerData: { x, signed } } = require("node:worker_threads");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  parentPort.on("message", () =>
    parentPort.postMessage(signed.every(([data, signature]) => verify(null, data, key, signature))));
`;

function openBareThread(publicKey: string, signed: readonly SignedBytes[]): () => Promise<void> {
  const x = Buffer.from(publicKey, "hex").toString("base64url");
  const thread = new Worker(BARE_THREAD, { eval: true, workerData: { x, signed } });
  thread.unref();
  return async () => {
    thread.postMessage("verify");
    const [valid] = await once(thread, "message");
    if (!valid) throw new Error("Cannot measure: a signature is not valid");
  };
}

async function measureCanonicalForm(records: readonly Buffer[]): Promise<Figure> {
  const values = records.map((data) => JSON.parse(data.toString()));
  const megabytes = REPEATS * records.reduce((sum, { length }) => sum + length, 0) / 1e6;
  const rate = (print: (value: unknown) => string) => () =>
    ratePerSecond(megabytes, () => {
      let length = 0;
      for (let n = 0; n < REPEATS; n++) for (const value of values) length += print(value).length;
      if (length === 0) throw new Error("Nothing was printed");
    });
  const rates = await measureInTurns(ROUNDS * 3, {
    baseline: rate(JSON.stringify),
    platform: rate(canonicalize),
  });
  return {
    label: "canonical form, MB/s",
    ...rates,
    baselineLabel: "JSON.stringify",
    goal: "≥ 0.5",
  };
}
