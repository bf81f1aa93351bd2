/** Data derived from the receipts: the full tiles of the Merkle log, its signed checkpoint, and counts by day and category. */
export const log = `
  CREATE TABLE log_tiles (        -- full tiles only; partial ones are computed from the receipts and the tiles below
    level smallint NOT NULL CHECK (level >= 0),
    n bigint NOT NULL CHECK (n >= 0),
    hashes bytea NOT NULL CHECK (length(hashes) = 8192),
    root bytea NOT NULL CHECK (length(root) = 32),
    PRIMARY KEY (level, n)
  );
  ALTER TABLE log_tiles ALTER hashes SET STORAGE EXTERNAL;
  CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log_tiles
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

  CREATE TABLE log_checkpoint (   -- the newest published one
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    size bigint NOT NULL,
    root bytea NOT NULL CHECK (length(root) = 32),
    note text NOT NULL,
    verifier_key text NOT NULL,
    signed_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE log_publishing (   -- the newest attempt to have a checkpoint cosigned and published
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    size bigint NOT NULL,
    quorum int NOT NULL,          -- cosignatures without which it is not published
    waiting_since timestamptz,    -- null: it was published
    witnesses jsonb NOT NULL      -- of each {name, verifier_key, size, problem}; size: the last one it is known to have cosigned
  );

  CREATE TABLE ledger_days (
    day text NOT NULL,            -- e.g. 2026-07-01, as the receipt says; empty: the receipt says none
    category text NOT NULL,
    n bigint NOT NULL,
    PRIMARY KEY (day, category)
  ) WITH (fillfactor = 50);
  CREATE TABLE ledger_categories (
    category text PRIMARY KEY,
    n bigint NOT NULL
  ) WITH (fillfactor = 50);

  -- The day of any record, found by a pattern. Works on bytes, as cutting a text could cut a character.
  CREATE FUNCTION day_found(era smallint, record bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT coalesce(CASE WHEN era = 3 AND substr(record, length(record), 1) = '}'
      THEN substring(encode(substr(record, greatest(1, length(record) - 60)), 'escape')
        FROM '"timestamp":"(\\d{4}-\\d\\d-\\d\\d)[^"]*"}$') END,
      substring(encode(record, 'escape') FROM '"timestamp": ?"(\\d{4}-\\d\\d-\\d\\d)'), '')
  $$;
  -- The same, faster for our own receipts: canonical bytes end with a timestamp of 32 characters,
  -- "timestamp":"2026-07-01T…+00:00"}. An index is made of it, so that its names are resolved here and not by a search path.
  CREATE FUNCTION day_of(era smallint, record bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN era = 3 AND substr(record, length(record) - 46, 13) = '"timestamp":"'::bytea
        AND encode(substr(record, length(record) - 33, 10), 'escape') ~ '^\\d{4}-\\d\\d-\\d\\d$'
      THEN encode(substr(record, length(record) - 33, 10), 'escape')
      ELSE day_found(era, record) END;

  CREATE FUNCTION count_receipts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN
    INSERT INTO ledger_categories AS c
      SELECT category, count(*) FROM added GROUP BY 1 ORDER BY 1
      ON CONFLICT (category) DO UPDATE SET n = c.n + excluded.n;
    INSERT INTO ledger_days AS d
      SELECT day_of(era, record), category, count(*) FROM added GROUP BY 1, 2 ORDER BY 1, 2
      ON CONFLICT (day, category) DO UPDATE SET n = d.n + excluded.n;
    RETURN NULL;
  END $$;
  DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION count_receipts() SET search_path = %I, pg_temp', current_schema());
  END $$;
  CREATE TRIGGER counted AFTER INSERT ON receipts REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_receipts();
`;
