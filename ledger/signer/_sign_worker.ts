/** A thread that signs lists of messages, while the main thread links and commits. */
import { type KeyObject, sign } from "node:crypto";
import { workerData } from "node:worker_threads";
import { answerMessages, type PackedBytes } from "../threads/mod.ts";

const key: KeyObject = workerData.data;

function signAll({ bytes, ends }: PackedBytes): Uint8Array<ArrayBuffer> {
  const signatures = new Uint8Array(64 * ends.length);
  let start = 0;
  ends.forEach((end, n) => {
    signatures.set(sign(null, bytes.subarray(start, end), key), 64 * n);
    start = end;
  });
  return signatures;
}

answerMessages(signAll, ({ buffer }) => [buffer]);
