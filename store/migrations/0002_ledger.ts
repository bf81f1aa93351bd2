/**
 * The receipts and their head, which anyone may read; the outbox and the evidence, which are private. Receipts and keys
 * can be added by the sequencer, and changed by no role.
 */
export const ledger = `
  CREATE TABLE receipts (
    position bigint PRIMARY KEY CHECK (position >= 0),
    id text NOT NULL UNIQUE,
    hash bytea NOT NULL UNIQUE,
    category text NOT NULL,
    era smallint NOT NULL DEFAULT 3 CHECK (era IN (1, 2, 3)),
    record bytea NOT NULL,        -- era 3: the canonical bytes; before: the record as it was imported
    signature bytea,              -- era 3: Ed25519 over the record
    original bytea                -- the imported text, where it can't be printed from the other columns
  );
  ALTER TABLE receipts ALTER record SET STORAGE EXTERNAL, ALTER original SET STORAGE EXTERNAL;
  CREATE INDEX receipts_category ON receipts (category, position);
  CREATE INDEX receipts_id_prefix ON receipts (lower(id) text_pattern_ops);

  -- The id of the receipt that this one corrects; null for nearly all, so that the index is small.
  CREATE FUNCTION supersedes_of(record bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN position('"supersedes":'::bytea IN record) > 0
      THEN convert_from(record, 'UTF8')::json ->> 'supersedes' END
  $$;
  CREATE INDEX receipts_supersedes ON receipts (supersedes_of(record))
    WHERE era = 3 AND position('"supersedes":'::bytea IN record) > 0;

  CREATE TABLE ledger_head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    size bigint NOT NULL,
    hash bytea                    -- of the newest receipt; null: there is none
  );
  INSERT INTO ledger_head (size) VALUES (0);

  CREATE TABLE ledger_keys (      -- each is trusted from its position until the next key's
    n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    from_position bigint NOT NULL,
    public_key bytea NOT NULL CHECK (length(public_key) = 32),
    added_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE seal_requests (    -- every id that was ever requested, with the hash of its content
    id text PRIMARY KEY,
    request_hash bytea NOT NULL   -- empty: its evidence was deleted, or its receipt was put back after a loss
  );
  CREATE TABLE seal_outbox (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL,             -- without an index: every receipt would pay for it
    payload text NOT NULL
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
  CREATE TABLE seal_refusals (
    id text PRIMARY KEY,
    reason text NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE ledger_hold (      -- why nothing is sealed; no row: sealing is not held
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    reason text NOT NULL,
    since timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE evidence (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    receipt_id text NOT NULL,
    name text NOT NULL,
    salt bytea NOT NULL CHECK (length(salt) = 32),
    content text NOT NULL,
    anonymous boolean NOT NULL,   -- of a request by a caller without a key
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, receipt_id, name)
  );
  CREATE INDEX evidence_at ON evidence USING brin (at) WITH (autosummarize = on);
  SELECT wall_off(false, 'evidence');
  CREATE POLICY crossing ON evidence FOR INSERT TO sealoop_crossing WITH CHECK (true);

  CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'Table % is append-only: % is refused', TG_TABLE_NAME, TG_OP
      USING ERRCODE = 'restrict_violation';
  END $$;
  CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON receipts
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger_keys
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
  CREATE TRIGGER append_only BEFORE DELETE OR TRUNCATE ON ledger_head
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();

  -- Requests receipts, each id once: those that are new go to the outbox with their evidence, and wake the sequencer.
  -- The ids of one call must differ. Returns the new ids; the others were requested before, maybe with other content.
  CREATE FUNCTION request_seals(
    ids text[], payloads text[], request_hashes bytea[],
    evidence_ids text[], evidence_names text[], evidence_salts bytea[], evidence_contents text[],
    evidence_tenants text[], evidence_anonymous boolean[]
  ) RETURNS SETOF text LANGUAGE sql AS $$
    WITH added AS (
      INSERT INTO seal_requests (id, request_hash)
      SELECT r.id, r.request_hash FROM unnest(ids, request_hashes) AS r (id, request_hash)
      ORDER BY r.id               -- one order for all, so that no two callers wait for each other
      ON CONFLICT (id) DO NOTHING RETURNING id
    ), queued AS (
      INSERT INTO seal_outbox (id, payload)
      SELECT r.id, r.payload FROM unnest(ids, payloads) WITH ORDINALITY AS r (id, payload, n)
      JOIN added USING (id) ORDER BY r.n
    ), kept AS (
      INSERT INTO evidence (tenant_id, receipt_id, name, salt, content, anonymous)
      SELECT e.tenant, e.id, e.name, e.salt, e.content, e.anonymous
      FROM unnest(
        evidence_ids, evidence_names, evidence_salts, evidence_contents, evidence_tenants, evidence_anonymous
      ) AS e (id, name, salt, content, tenant, anonymous)
      JOIN added USING (id)
    ), notified AS (
      SELECT pg_notify('sealoop_outbox', '') WHERE EXISTS (SELECT FROM added)
    )
    SELECT added.id FROM added CROSS JOIN notified
  $$;

  -- Deletes a tenant's evidence that is older than these days (0: none is), some at a time, and the hashes of its requests, from
  -- which it could be guessed. Returns how many entries.
  CREATE FUNCTION delete_old_evidence(days int, anonymous_days int, most int) RETURNS int LANGUAGE sql AS $$
    WITH old AS (
      SELECT e.tenant_id, e.receipt_id, e.name FROM evidence e
      WHERE days > 0 AND e.at < now() - make_interval(days => days)
        OR e.anonymous AND anonymous_days > 0 AND e.at < now() - make_interval(days => anonymous_days)
      LIMIT most
    ), deleted AS (
      DELETE FROM evidence e USING old
      WHERE (e.tenant_id, e.receipt_id, e.name) = (old.tenant_id, old.receipt_id, old.name)
      RETURNING e.receipt_id
    ), forgotten AS (
      UPDATE seal_requests SET request_hash = ''
      WHERE id IN (SELECT receipt_id FROM deleted) AND request_hash <> ''
    )
    SELECT count(*)::int FROM deleted
  $$;

  -- Appends one batch: moves the head from where it must be, adds the receipts, empties the outbox, notifies readers.
  CREATE FUNCTION append_receipts(
    expected_size bigint, expected_hash bytea, ids text[], categories text[], hashes bytea[],
    records bytea[], signatures bytea[], seqs bigint[]
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    n int := cardinality(ids);
  BEGIN
    UPDATE ledger_head SET size = size + n, hash = hashes[n]
      WHERE size = expected_size AND hash IS NOT DISTINCT FROM expected_hash;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The ledger is not at size % any more: another sequencer is at work', expected_size
        USING ERRCODE = 'serialization_failure';
    END IF;
    INSERT INTO receipts (position, id, category, hash, record, signature)
      SELECT expected_size + r.n - 1, r.id, r.category, r.hash, r.record, r.signature
      FROM unnest(ids, categories, hashes, records, signatures) WITH ORDINALITY
        AS r (id, category, hash, record, signature, n);
    DELETE FROM seal_outbox WHERE seq = ANY (seqs);
    PERFORM pg_notify('sealoop_sealed', (expected_size + n)::text);
  END $$;

  -- Takes the requests of receipts that are part of the chain from the outbox, under whatever number they are there, and
  -- remembers their ids: after a loss, or a crash between signature and commit.
  CREATE FUNCTION settle_requests(ids text[]) RETURNS void LANGUAGE sql AS $$
    DELETE FROM seal_outbox WHERE id IN (SELECT r.id FROM receipts r WHERE r.id = ANY (ids));
    INSERT INTO seal_requests (id, request_hash) SELECT r.id, '' FROM receipts r WHERE r.id = ANY (ids)
      ON CONFLICT (id) DO NOTHING;
  $$;

  REVOKE ALL ON FUNCTION append_receipts, settle_requests, request_seals, delete_old_evidence FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION append_receipts, settle_requests TO sealoop_sequencer;
  GRANT EXECUTE ON FUNCTION request_seals, delete_old_evidence TO sealoop_app;
  GRANT SELECT ON receipts, ledger_head, ledger_keys TO sealoop_app, sealoop_sequencer, sealoop_ledger;
  GRANT INSERT ON receipts, ledger_keys, seal_refusals TO sealoop_sequencer;
  GRANT UPDATE ON ledger_head TO sealoop_sequencer;
  GRANT SELECT, DELETE ON seal_outbox TO sealoop_sequencer;
  GRANT SELECT, INSERT ON seal_outbox, seal_requests TO sealoop_app;
  GRANT SELECT, INSERT ON seal_requests TO sealoop_sequencer; -- ids of imported receipts are taken, too
  GRANT SELECT, INSERT, DELETE ON evidence TO sealoop_app;
  GRANT UPDATE (request_hash) ON seal_requests TO sealoop_app;
  GRANT SELECT ON seal_refusals TO sealoop_app, sealoop_sequencer;
  GRANT SELECT ON ledger_hold TO sealoop_app;
  GRANT SELECT, INSERT, UPDATE, DELETE ON ledger_hold TO sealoop_sequencer;
  -- The public ledger tells a receipt that is about to be sealed from an unknown one: by its id alone.
  GRANT SELECT (id) ON seal_requests, seal_outbox, seal_refusals TO sealoop_ledger;
  GRANT SELECT, INSERT ON seal_requests, seal_outbox TO sealoop_crossing;
  GRANT INSERT ON evidence TO sealoop_crossing;
  SELECT let_cross('request_seals');
`;
