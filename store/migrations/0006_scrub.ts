import type { Knex } from "knex";

/** What the scrub of the ledger has found: how far it is, and where the chain does not hold. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE ledger_scrub (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      pass bigint NOT NULL,       -- number of the pass that is under way, or was the last
      position bigint NOT NULL DEFAULT 0, -- how far it is
      size bigint NOT NULL,       -- how far it will go
      started_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz,
      verified_through bigint NOT NULL DEFAULT -1, -- everything up to here was verified, by this pass or an earlier one
      verified_hash bytea,        -- of the receipt there
      verified_era smallint,
      more_breaks bigint NOT NULL DEFAULT 0 -- breaks of the last pass that are not kept, as there are so many
    );
    CREATE TABLE ledger_breaks (
      position bigint PRIMARY KEY,
      failed_check text NOT NULL,
      reason text NOT NULL,
      receipt_id text,            -- as the row says it; null: there is no row
      first_found_at timestamptz NOT NULL DEFAULT now(),
      last_seen_pass bigint NOT NULL,
      healed_at timestamptz       -- null: it is still so
    );
    CREATE INDEX ledger_breaks_open ON ledger_breaks (position) WHERE healed_at IS NULL;

    GRANT SELECT ON ledger_scrub, ledger_breaks TO sealoop_app, sealoop_ledger;
    GRANT INSERT, UPDATE ON ledger_scrub, ledger_breaks TO sealoop_app;
  `);
}
