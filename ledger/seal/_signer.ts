import type { KeyObject } from "node:crypto";
import { startThread } from "../verify/mod.ts";
import type { Messages } from "./_sign_worker.ts";

/** Signs in a thread of its own, one list after the other. */
export interface Signer {
  /** @returns Ed25519 signatures of 64 bytes each, in the order of the messages */
  sign(messages: readonly Uint8Array[]): Promise<Buffer[]>;
  close(): Promise<void>;
}

/** Starts one. The asynchronous form of Node's `sign` costs its caller as much as signing does; a list costs nothing. */
export function openSigner(privateKey: KeyObject): Signer {
  const thread = startThread<Messages, Uint8Array>("_sign_worker", privateKey);
  return {
    async sign(messages) {
      if (messages.length === 0) return [];
      const { bytes, ends } = inOne(messages);
      const { buffer } = await thread.ask(
        { bytes, ends },
        [bytes.buffer as ArrayBuffer, ends.buffer as ArrayBuffer],
      );
      return messages.map((_, n) => Buffer.from(buffer, 64 * n, 64));
    },
    close: thread.close,
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
