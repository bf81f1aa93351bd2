import type { KeyObject } from "node:crypto";
import type { Messages } from "./_sign_worker.ts";
import { startThread } from "./_thread.ts";

/** Signs in a thread of its own, one list after the other. */
export interface Signer {
  /** @returns Ed25519 signatures of 64 bytes each, in the order of the messages */
  sign(messages: readonly Uint8Array[]): Promise<Buffer[]>;
  close(): Promise<void>;
}

/** Starts one. The asynchronous form of Node's `sign` costs its caller as much as signing does; a list costs nothing. */
export function openSigner(privateKey: KeyObject): Signer {
  const worker = startThread("_sign_worker", privateKey);
  const waiting: { resolve(signatures: Uint8Array): void; reject(error: unknown): void }[] = [];
  const fail = (error: unknown) => waiting.splice(0).forEach(({ reject }) => reject(error));
  worker
    .on("message", (signatures: Uint8Array) => waiting.shift()?.resolve(signatures))
    .on("error", fail)
    .on("exit", () => fail(new Error("The signing thread has ended")));
  return {
    async sign(messages) {
      if (messages.length === 0) return [];
      const signatures = await new Promise<Uint8Array>((resolve, reject) => {
        waiting.push({ resolve, reject });
        const sent = inOne(messages);
        worker.postMessage(sent, [
          sent.bytes.buffer as ArrayBuffer,
          sent.ends.buffer as ArrayBuffer,
        ]);
      });
      const { buffer } = signatures;
      return messages.map((_, n) => Buffer.from(buffer, 64 * n, 64));
    },
    close: async () => void await worker.terminate(),
  };
}

function inOne(messages: readonly Uint8Array[]): Messages {
  const ends = new Uint32Array(messages.length);
  let end = 0;
  messages.forEach((message, n) => ends[n] = end += message.length);
  const bytes = new Uint8Array(end);
  messages.forEach((message, n) => bytes.set(message, ends[n]! - message.length));
  return { bytes, ends };
}
