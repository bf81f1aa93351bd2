/**
 * PostgreSQL: connections by role, migrations, notifications, and what the platform keeps there.
 *
 * ```ts
 * const store = openStore(url, "app");
 * await transaction(store, async (trx) => { … });
 * ```
 *
 * Trusts: the server. What must not be trusted to it is the ledger, which proves itself (see `ledger/`).
 * @module
 */
export * from "./a2a_tasks.ts";
export * from "./admin_key.ts";
export * from "./approval_votes.ts";
export * from "./approvals.ts";
export * from "./call_effects.ts";
export * from "./compliance.ts";
export * from "./connection.ts";
export * from "./detector_memory.ts";
export * from "./effects.ts";
export * from "./figures.ts";
export * from "./findings.ts";
export * from "./governance.ts";
export * from "./held_calls.ts";
export * from "./holder.ts";
export * from "./keys.ts";
export * from "./knowledge.ts";
export * from "./knowledge_search.ts";
export * from "./learning.ts";
export * from "./learning_metrics.ts";
export * from "./limits.ts";
export * from "./listen.ts";
export * from "./migrate.ts";
export * from "./open_calls.ts";
export * from "./platform_state.ts";
export * from "./policies.ts";
export * from "./repairs.ts";
export * from "./row.ts";
export * from "./runbooks.ts";
export * from "./service_graph.ts";
export * from "./service_search.ts";
export * from "./services.ts";
export * from "./shared.ts";
export * from "./ticket_runs.ts";
export * from "./ticket_writes.ts";
export * from "./tickets.ts";
export * from "./together.ts";
export * from "./unknown_calls.ts";
export * from "./webhook_deliveries.ts";
export * from "./webhooks.ts";
