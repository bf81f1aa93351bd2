import type { Knex } from "knex";

/** What people said about approvals, as the gateway heard it: nothing else counts as anybody's word. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE approval_voices (
      id text PRIMARY KEY,          -- VOC- and 12 hex characters
      approval_id text NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
      move text NOT NULL CHECK (move IN ('approved', 'denied', 'reopened')),
      key_id text NOT NULL,
      said_at timestamptz NOT NULL DEFAULT clock_timestamp(),
      number integer,               -- of the move that it became
      refused jsonb,                -- {name, message}: why it became none
      CHECK (number IS NULL OR refused IS NULL)
    );
    -- One word of a key at a time waits to become a move.
    CREATE UNIQUE INDEX approval_voices_open ON approval_voices (approval_id, key_id)
      WHERE number IS NULL AND refused IS NULL;

    -- Keys whose approvals did not count any more when this move was made.
    ALTER TABLE approval_moves ADD COLUMN not_counted jsonb NOT NULL DEFAULT '[]';

    GRANT SELECT, INSERT, UPDATE, DELETE ON approval_voices TO sealoop_app;
  `);
}
