import type { Knex } from "knex";

/** How often sweeps find the fault of a ticket again while a run is on it: counted here, so that the run is told nothing. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE ticket_sightings (
      ticket_id text PRIMARY KEY REFERENCES tickets ON DELETE CASCADE,
      found_again bigint NOT NULL
    );
    GRANT SELECT, INSERT, UPDATE, DELETE ON ticket_sightings TO sealoop_app;
  `);
}
