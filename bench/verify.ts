/**
 * How much of the machine's bare speed is left for verifying a chain: receipts a second from exported text to verdict,
 * on all cores, once the threads have started, against their signatures alone, verified on all cores by the same native code; and how fast the
 * canonical form is beside `JSON.stringify`, for the values of the same receipts.
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
import { type Figure, inTurns } from "./_figures.ts";
import { fillLedger } from "./_fill.ts";

const ROUNDS = 5;
const RECEIPTS = 20_000;
const BATCH = 500;
/** Measures. */
export async function* run(): AsyncGenerator<Figure> {
  const database = await testDatabase();
  await fillLedger(database, RECEIPTS);
  const store = openStore(database.urls.ledger, "ledger");
  const texts = (await exportReceipts(store, { from: 0, to: RECEIPTS })).map(({ text }) => text);
  const keys = await listLedgerKeys(store);
  const records = texts.map((text) => Buffer.from(text));
  const signed = texts.map((text) => JSON.parse(text)).map(({ canonical_bytes, signature }) =>
    [Buffer.from(canonical_bytes, "hex"), Buffer.from(signature.value, "hex")] as const
  );
  const share = Math.ceil(RECEIPTS / availableParallelism());
  const threads = Array.from(
    { length: availableParallelism() },
    (_, n) => openBareThread(keys[0]!.publicKey, signed.slice(n * share, (n + 1) * share)),
  );

  const verifies = await inTurns(ROUNDS, {
    bare: () => rate(RECEIPTS, () => Promise.all(threads.map((thread) => thread()))),
    house: () => verifyAll(records, keys),
  });
  yield {
    what: "full verification, receipts/s, all cores",
    ...{ ...verifies, baseline: "signatures alone, all cores", goal: "≥ 0.8" },
  };

  const values = signed.slice(0, 1_000).map(([data]) => JSON.parse(data.toString()));
  const megabytes = 10 * signed.slice(0, 1_000).reduce((sum, [data]) => sum + data.length, 0) /
    1e6;
  const printed = (print: (value: unknown) => string) => () =>
    rate(megabytes, () => {
      let length = 0;
      for (let n = 0; n < 10; n++) for (const value of values) length += print(value).length;
      if (length === 0) throw new Error("Nothing was printed");
      return Promise.resolve();
    });
  const prints = await inTurns(ROUNDS * 3, {
    bare: printed(JSON.stringify),
    house: printed(canonicalize),
  });
  await store.close();
  await database.drop();
  yield { what: "canonical form, MB/s", ...prints, baseline: "JSON.stringify", goal: "≥ 0.5" };
}

/** Verifies a chain. @returns receipts a second, from when the threads have started */
async function verifyAll(records: readonly Uint8Array[], keys: readonly TrustedKey[]) {
  let started: { readonly at: number; readonly count: number } | undefined;
  const { total, breaks } = await verifyInParallel(batches(records), keys, {
    onProgress: (count) => started ??= { at: performance.now(), count },
  });
  if (total !== RECEIPTS || breaks > 0) throw new Error(`${breaks} of ${total} do not hold`);
  return (total - started!.count) / (performance.now() - started!.at) * 1000;
}

/** A thread that verifies nothing but signatures. Plain JavaScript, as it imports nothing of the house. */
const BARE_THREAD = `
  const { createPublicKey, verify } = require("node:crypto");
  const { parentPort, workerData: { x, signed } } = require("node:worker_threads");
  const key = createPublicKey({ key: { kty: "OKP", crv: "Ed25519", x }, format: "jwk" });
  parentPort.on("message", () =>
    parentPort.postMessage(signed.every(([data, signature]) => verify(null, data, key, signature))));
`;

/** @returns a function that has all of them verified */
function openBareThread(publicKey: string, signed: readonly (readonly [Buffer, Buffer])[]) {
  const x = Buffer.from(publicKey, "hex").toString("base64url");
  const thread = new Worker(BARE_THREAD, { eval: true, workerData: { x, signed } });
  thread.unref();
  return async () => {
    thread.postMessage("go");
    const [good] = await once(thread, "message");
    if (!good) throw new Error("Not verified");
  };
}

async function* batches(records: readonly Uint8Array[]): AsyncGenerator<Uint8Array[]> {
  for (let at = 0; at < records.length; at += BATCH) yield records.slice(at, at + BATCH);
}

async function rate(count: number, work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return count / ((performance.now() - started) / 1000);
}
