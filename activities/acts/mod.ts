/**
 * Acts outside as such: their intent, and the one reconciliation, which ends what its run has left open.
 *
 * ```ts
 * if (await intendOnce(db, receipt, { kind: "peer", id, run, act })) await peer.send(message);
 * await settleOpenActs(parts, { peer: peerKind });
 * ```
 *
 * @module
 */
export { intendOnce } from "./intend.ts";
export type { ActKind } from "./kind.ts";
export { settleOpenActs } from "./settle.ts";
