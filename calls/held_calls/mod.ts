/**
 * Calls that people have approved: run at most once, by a workflow of their own.
 *
 * ```ts
 * const runHeldCall = createHeldCallRunner(platform);
 * const { state, receipt_id } = await runHeldCall({ approvalId, run, intentReceiptId, outcomeReceiptId });
 * ```
 *
 * Trusts: the approval's hash of the action. Doesn't trust: the stored arguments, which are checked against it.
 * @module
 */
export { createHeldCallRunner } from "./run.ts";
