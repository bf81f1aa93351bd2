import type { Knex } from "knex";

/**
 * Who reads the public ledger may know that a receipt was asked for, and whether it waits or was refused, so that one that
 * is about to be sealed is not called unknown: the ids, and nothing of what they were asked for with.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    GRANT SELECT (id) ON seal_requests, seal_outbox, seal_refusals TO sealoop_ledger;
  `);
}
