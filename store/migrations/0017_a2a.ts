import type { Knex } from "knex";

/** Tasks that agents have asked for, as they are shown; what drives them are workflows. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE a2a_tasks (
      id text PRIMARY KEY,
      context_id text NOT NULL,
      key_id text NOT NULL,       -- the only one that may see it
      state text NOT NULL,
      version integer NOT NULL,   -- a later one is never overwritten by an earlier one
      record json NOT NULL,       -- any text, as agents may send what jsonb has no place for
      created_at timestamptz NOT NULL DEFAULT now(),
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX a2a_tasks_updated ON a2a_tasks (updated_at);
    CREATE INDEX a2a_tasks_key ON a2a_tasks (key_id, updated_at DESC);

    GRANT SELECT, INSERT, UPDATE, DELETE ON a2a_tasks TO sealoop_app;
  `);
}
