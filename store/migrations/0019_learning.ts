import type { Knex } from "knex";

/** What resolved tickets teach, as the arbiter scored it: dropped, waiting for people, or applied. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE learning_items (
      id text PRIMARY KEY,
      ticket_id text NOT NULL UNIQUE,
      title text NOT NULL,
      category text NOT NULL,
      score smallint NOT NULL CHECK (score BETWEEN 0 AND 100),
      factors jsonb NOT NULL,       -- [{factor, points}]
      passage jsonb NOT NULL,       -- what the knowledge base gets
      state text NOT NULL CHECK (state IN ('dropped', 'queued', 'applied')),
      receipt_id text,              -- of what was applied
      decided_by text,              -- principal; null: the arbiter
      made_at timestamptz NOT NULL DEFAULT now(),
      applied_at timestamptz
    );
    CREATE INDEX learning_items_queue ON learning_items (score DESC, made_at) WHERE state = 'queued';
    CREATE INDEX learning_items_made ON learning_items (made_at DESC);
    CREATE INDEX tickets_fault ON tickets (fingerprint, resolved_at) WHERE fingerprint IS NOT NULL;
    GRANT SELECT, INSERT, UPDATE, DELETE ON learning_items TO sealoop_app;
  `);
}
