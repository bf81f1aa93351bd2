import type { Knex } from "knex";

/** Policies of the guardrails: each version stays, as verdicts name it; the newest is in force. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE guard_policies (
      version integer PRIMARY KEY CHECK (version > 0),
      policy jsonb NOT NULL,
      sha256 text NOT NULL,       -- over the policy's text as it is stored
      set_at timestamptz NOT NULL DEFAULT now()
    );

    GRANT SELECT, INSERT ON guard_policies TO sealoop_app;
  `);
}
