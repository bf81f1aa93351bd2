import type { Knex } from "knex";

/**
 * What taking over an existing ledger needs: a place where its receipts are put before they become the ledger's, all at
 * once; and, for records that were printed otherwise than ours are, the text as it came.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    ALTER TABLE receipts ADD original bytea; -- as it was imported, where it can't be printed from the rest
    ALTER TABLE receipts ALTER original SET STORAGE EXTERNAL;

    CREATE TABLE ledger_import (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      file_sha256 bytea NOT NULL CHECK (length(file_sha256) = 32), -- with the keys that it was verified by
      size bigint NOT NULL CHECK (size > 0),
      started_at timestamptz NOT NULL DEFAULT now(),
      finished_at timestamptz
    );
    -- Unlogged: after a crash of the server it is empty, and is filled anew from the file.
    CREATE UNLOGGED TABLE ledger_import_receipts (
      position bigint PRIMARY KEY,
      id text NOT NULL UNIQUE,
      hash bytea NOT NULL UNIQUE,
      category text NOT NULL,
      era smallint NOT NULL,
      record bytea NOT NULL,
      signature bytea,
      original bytea
    );
    ALTER TABLE ledger_import_receipts ALTER record SET STORAGE EXTERNAL, ALTER original SET STORAGE EXTERNAL;

    GRANT SELECT, INSERT, UPDATE, DELETE ON ledger_import TO sealoop_sequencer;
    GRANT SELECT, INSERT, TRUNCATE ON ledger_import_receipts TO sealoop_sequencer;
    -- An imported receipt's id is taken, like that of any other.
    GRANT SELECT, INSERT ON seal_requests TO sealoop_sequencer;
    GRANT SELECT ON ledger_import TO sealoop_app, sealoop_ledger;
  `);
}
