/**
 * Worker threads that answer messages. Each answer carries the id of its message, so that they may overlap.
 *
 * ```ts
 * const thread = startThread<Run, RunResult>(programPath("ledger/verify/_verify_worker.ts"), keys);
 * const result = await thread.ask(run);
 *
 * answerMessages((run: Run) => verifyRun(run)); // in the thread's program
 * ```
 *
 * @module
 */
export { answerMessages } from "./answer_messages.ts";
export { packBytes, type PackedBytes } from "./packed_bytes.ts";
export { startThread, type Thread, ThreadEnded } from "./thread.ts";
