/**
 * Calls that reach the operator's own systems.
 *
 * ```ts
 * const n8n = systemFor("soar", context); // undefined: the platform's own form alone
 * const workflows = await unlessAway(n8n?.listWorkflows(), []);
 * const { state } = await orderAct(context, { system: "n8n", workflow: "tqX81", body: {} });
 * ```
 *
 * @module
 */
export {
  approvedActOrder,
  isActPermitted,
  noteApprovedAct,
  orderAct,
  type OrderedAct,
  type OutsideAct,
  readOrderedAct,
  recoverAct,
  targetOf,
} from "./acts.ts";
export { requireSystem, systemFor, unlessAway } from "./systems.ts";
