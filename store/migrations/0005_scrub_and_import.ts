/** The results of the scrub, and the staging area of an import. */
export const scrubAndImport = `
  CREATE TABLE ledger_scrub (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    pass bigint NOT NULL,         -- number of the current or last pass
    position bigint NOT NULL DEFAULT 0, -- progress of the pass
    size bigint NOT NULL,         -- end of the pass
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    verified_through bigint NOT NULL DEFAULT -1, -- verified up to here by this pass or an earlier one
    verified_hash bytea,          -- of the receipt at that position
    verified_era smallint,
    more_breaks bigint NOT NULL DEFAULT 0 -- breaks of the last pass beyond those that are stored
  );
  CREATE TABLE ledger_breaks (
    position bigint PRIMARY KEY,
    failed_check text NOT NULL,
    reason text NOT NULL,
    receipt_id text,              -- as the row says; null: there is no row
    first_found_at timestamptz NOT NULL DEFAULT now(),
    last_seen_pass bigint NOT NULL,
    healed_at timestamptz         -- null: the chain is still broken here
  );
  CREATE INDEX ledger_breaks_open ON ledger_breaks (position) WHERE healed_at IS NULL;
  GRANT SELECT ON ledger_scrub, ledger_breaks TO sealoop_app, sealoop_ledger;
  GRANT INSERT, UPDATE ON ledger_scrub, ledger_breaks TO sealoop_app;

  CREATE TABLE ledger_import (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    file_sha256 bytea NOT NULL CHECK (length(file_sha256) = 32), -- of the file and the keys it was verified with
    size bigint NOT NULL CHECK (size > 0),
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz
  );
  -- Receipts are staged here, then moved to the ledger all at once.
  -- Unlogged: after a crash of the server it is empty, and is filled again from the file.
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
  GRANT SELECT ON ledger_import TO sealoop_app, sealoop_ledger;
`;
