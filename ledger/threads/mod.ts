/**
 * Worker threads that answer one message after another.
 *
 * ```ts
 * const thread = startThread<PackedBytes, Uint8Array>("ledger/seal/_sign_worker.ts", key);
 * const signatures = await thread.ask(packBytes(messages));
 * ```
 *
 * @module
 */
export { packBytes, type PackedBytes, startThread, type Thread } from "./thread.ts";
