import type { KeyObject } from "node:crypto";
import { programPath } from "../../config.ts";
import { packBytes, type PackedBytes, startThread } from "../threads/mod.ts";

/** A thread that signs one list of messages after another. */
export interface SignThread {
  /** Returns Ed25519 signatures of 64 bytes each, in the order of the messages. */
  sign(messages: readonly Uint8Array[]): Promise<Buffer[]>;
  close(): Promise<void>;
}

/** Starts the thread. Node's asynchronous `sign` would cost the calling thread as much time as the signing itself. */
export function startSignThread(privateKey: KeyObject): SignThread {
  const program = programPath("ledger/signer/_sign_worker.ts");
  const thread = startThread<PackedBytes, Uint8Array>(program, privateKey);
  return {
    async sign(messages) {
      if (messages.length === 0) return [];
      const packed = packBytes(messages);
      const { buffer } = await thread.ask(packed, [packed.bytes.buffer, packed.ends.buffer]);
      return messages.map((_, n) => Buffer.from(buffer, 64 * n, 64));
    },
    close: thread.close,
  };
}
