import type { Knex } from "knex";

/** Placeholder for the ledger's tables. */
export async function up(_trx: Knex): Promise<void> {
}
