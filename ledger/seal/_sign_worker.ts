/** A thread that signs, so that who links and commits need not wait for it. */
import { type KeyObject, sign } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";

/** Messages that are to be signed. */
export interface Messages {
  /** One after the other. */
  readonly bytes: Uint8Array;
  /** Where each ends. */
  readonly ends: Uint32Array;
}

const key: KeyObject = workerData.data;

function signAll({ bytes, ends }: Messages): Uint8Array {
  const signatures = new Uint8Array(64 * ends.length);
  let start = 0;
  ends.forEach((end, n) => {
    signatures.set(sign(null, bytes.subarray(start, end), key), 64 * n);
    start = end;
  });
  return signatures;
}

parentPort!.on("message", (messages: Messages) => {
  const signatures = signAll(messages);
  parentPort!.postMessage(signatures, [signatures.buffer as ArrayBuffer]);
});
