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

  CREATE TABLE ledger_import (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    file_sha256 bytea NOT NULL CHECK (length(file_sha256) = 32), -- of the file and the keys it was verified with
    size bigint NOT NULL CHECK (size > 0),
    started_at timestamptz NOT NULL DEFAULT now(),
    finished_at timestamptz,
    replaced jsonb                -- the ledger of this platform that was lost, where a new one continues it
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
  -- Makes the staged receipts the beginning of the empty ledger, all at once, with their keys.
  CREATE FUNCTION finish_import(
    import_size bigint, key_positions bigint[], public_keys bytea[], recovery_keys bytea[]
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE ledger_head SET size = import_size,
        hash = (SELECT hash FROM ledger_import_receipts WHERE position = import_size - 1)
      WHERE size = 0 AND (SELECT count(*) FROM ledger_import_receipts) = import_size;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The ledger is not empty, or not exactly % receipts are staged', import_size
        USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO receipts (position, id, hash, category, era, record, signature, original)
      SELECT position, id, hash, category, era, record, signature, original
      FROM ledger_import_receipts ORDER BY position;
    -- No request has this hash, so nobody can request a receipt under their ids.
    INSERT INTO seal_requests (id, request_hash) SELECT id, sha256('') FROM ledger_import_receipts;
    INSERT INTO ledger_keys (from_position, public_key, recovery_key)
      SELECT from_position, public_key, recovery_key FROM unnest(key_positions, public_keys, recovery_keys)
        WITH ORDINALITY AS k (from_position, public_key, recovery_key, n) ORDER BY n;
    UPDATE ledger_import SET finished_at = now();
    TRUNCATE ledger_import_receipts;
    PERFORM pg_notify('sealoop_sealed', import_size::text);
  END $$;
`;
