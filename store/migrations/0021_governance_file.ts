import type { Knex } from "knex";

/** Whether the file of the governance policy is followed, for those who ask what is in force. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE governance_file (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      path text NOT NULL,
      trouble text,               -- why it is not followed; null: it is, or there is none
      since timestamptz NOT NULL DEFAULT now()
    );
    GRANT SELECT, INSERT, UPDATE ON governance_file TO sealoop_app;
  `);
}
