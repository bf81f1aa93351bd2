import type { Knex } from "knex";

/** Runbooks in every version that was ever in force, what services give them, and effects a step. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE runbooks (
      sha256 text PRIMARY KEY,    -- over the bytes of its file
      name text NOT NULL,
      version text NOT NULL,
      origin text NOT NULL CHECK (origin IN ('shipped', 'user')),
      document jsonb NOT NULL,
      active boolean NOT NULL,
      first_seen_at timestamptz NOT NULL DEFAULT now(),
      changed_at timestamptz NOT NULL DEFAULT now() -- when it came into force, or went out of it
    );
    CREATE UNIQUE INDEX runbooks_active ON runbooks (name) WHERE active;

    CREATE TABLE runbook_commands (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      sha256 text NOT NULL        -- over the files of the allow-list
    );

    CREATE TABLE runbook_values (
      service text PRIMARY KEY,
      given jsonb NOT NULL        -- parameter → value
    );

    ALTER TABLE effects
      ADD COLUMN action_id text,  -- the action that it is a step of
      ADD COLUMN step text,
      ADD COLUMN undoes text;     -- the effect that it undoes
    CREATE INDEX effects_action ON effects (action_id);

    GRANT SELECT, INSERT, UPDATE, DELETE ON runbooks, runbook_commands, runbook_values TO sealoop_app;
  `);
}
