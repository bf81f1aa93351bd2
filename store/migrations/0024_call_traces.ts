import type { Knex } from "knex";

/** What governed calls do, noted so that it is found where their process is killed in the midst of them. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE call_traces (
      decision_id text PRIMARY KEY,
      ids jsonb NOT NULL,           -- of what it makes, by their names; public
      given jsonb,                  -- what else it gives; private
      at timestamptz NOT NULL DEFAULT now()
    );
    CREATE INDEX call_traces_at ON call_traces (at);
    GRANT SELECT, INSERT, DELETE ON call_traces TO sealoop_app;

    -- Whether what the call does is named after it or noted; not so in versions before this one.
    ALTER TABLE governance_decisions ADD COLUMN traced boolean NOT NULL DEFAULT false;
  `);
}
