/**
 * Automation of the operator's: n8n, whose workflows are started by their webhooks.
 *
 * ```ts
 * const n8n = openN8n(config); // undefined: none is set
 * await n8n.trigger(await n8n.findWebhook("tqX81"), "ACT-5b1e09c77a42", { host: "web-1" });
 * ```
 *
 * Doesn't trust: its answers beyond their shape. That a workflow ran is read from its executions.
 * @module
 */
export { openN8n, type SoarClient } from "./n8n.ts";
