/**
 * What an operation is, and the one way in which it is called.
 *
 * ```ts
 * const operation = defineOperation<Platform>();
 * const invoke = createInvoke(gates);
 * const { output } = await invoke(closeTicket, { door: "rest", as: "itsm_ticket_close", … });
 * ```
 *
 * A leaf: it imports nothing of the house, and everyone may import it.
 * @module
 */
export * from "./call.ts";
export * from "./dry_run.ts";
export * from "./errors.ts";
export * from "./governed.ts";
export * from "./input.ts";
export * from "./near_names.ts";
export * from "./operation.ts";
export * from "./principals.ts";
export * from "./secrets.ts";
export * from "./json_schema.ts";
export * from "./openapi.ts";
export * from "./timeout.ts";
export * from "./visible.ts";
