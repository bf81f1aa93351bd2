/**
 * The receipts and their head, which anyone may read; the outbox and the evidence, which are private. Receipts and keys
 * can be added by the sequencer, through a function that checks them, and changed by no role.
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

  -- The SHA-256 of the published file that this one is about. Others' texts are left out, however long they are.
  CREATE FUNCTION file_sha256_of(record bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN position('"file_sha256":'::bytea IN record) > 0
      THEN substring(convert_from(record, 'UTF8')::json #>> '{details,file_sha256}' FROM '^[0-9a-f]{64}$') END
  $$;
  CREATE INDEX receipts_file ON receipts (file_sha256_of(record))
    WHERE era = 3 AND position('"file_sha256":'::bytea IN record) > 0;

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
    recovery_key bytea CHECK (length(recovery_key) = 32), -- may replace it; null: imported, from before successions
    added_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE ledger_recovery (  -- the recovery key that a new ledger begins with
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    public_key bytea NOT NULL CHECK (length(public_key) = 32),
    stored_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE seal_requests (    -- every id that was ever requested, with the hash of its content
    id text PRIMARY KEY,
    request_hash bytea NOT NULL   -- empty: its evidence was deleted, or its receipt was put back after a loss
  );
  CREATE TABLE seal_outbox (
    seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    id text NOT NULL,             -- without an index: every receipt would pay for it
    category text NOT NULL,       -- that its role may request; the sequencer refuses a payload of another one
    payload text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp() -- when it was requested; the receipt's own time is compared with it
  ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
  CREATE TABLE seal_refusals (
    id text PRIMARY KEY,
    reason text NOT NULL,
    at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE ledger_trouble (   -- why nothing is sealed, or why the sequencer failed last; no row: neither
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    reason text NOT NULL,
    held boolean NOT NULL,        -- sealing waits for the operator
    at timestamptz NOT NULL DEFAULT now()
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

  -- Categories of receipts that each role may request: what store/rights/ has.
  CREATE TABLE seal_categories (
    role text NOT NULL,
    category text NOT NULL,
    PRIMARY KEY (role, category)
  );

  -- Refuses a request whose time is not that of the database's clock. What is no time is left to the sequencer, which
  -- refuses what has not the form of a receipt.
  CREATE FUNCTION check_seal_time(id text, payload text) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    told text := payload::json ->> 'timestamp';
  BEGIN
    IF NOT coalesce(pg_input_is_valid(told, 'timestamptz'), false) THEN RETURN; END IF;
    IF told::timestamptz BETWEEN clock_timestamp() - interval '5 minutes' AND clock_timestamp() + interval '5 minutes' THEN
      RETURN;
    END IF;
    RAISE EXCEPTION 'Cannot seal receipt %: it is dated %, and the database''s clock says %; they may differ by 5 minutes. Put a time of the past into details, or set the clock of this machine',
      id, told, to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') USING ERRCODE = '22S01';
  END $$;

  -- Adds requests, each id once: those that are new go to the outbox with their evidence, and wake the sequencer.
  -- The ids of one call must differ. Returns the new ids; the others were requested before, maybe with other content.
  CREATE FUNCTION add_seal_requests(
    ids text[], categories text[], payloads text[], request_hashes bytea[],
    evidence_ids text[], evidence_names text[], evidence_salts bytea[], evidence_contents text[],
    evidence_tenants text[], evidence_anonymous boolean[]
  ) RETURNS SETOF text LANGUAGE sql AS $$
    WITH added AS (
      INSERT INTO seal_requests (id, request_hash)
      SELECT r.id, r.request_hash FROM unnest(ids, request_hashes) AS r (id, request_hash)
      ORDER BY r.id               -- one order for all, so that no two callers wait for each other
      ON CONFLICT (id) DO NOTHING RETURNING id
    ), queued AS (
      INSERT INTO seal_outbox (id, category, payload)
      SELECT r.id, r.category, r.payload
      FROM unnest(ids, categories, payloads) WITH ORDINALITY AS r (id, category, payload, n)
      JOIN added USING (id), check_seal_time(r.id, r.payload) ORDER BY r.n
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

  -- Adds requests whose categories the role may request that has logged in.
  CREATE FUNCTION request_seals(
    ids text[], categories text[], payloads text[], request_hashes bytea[],
    evidence_ids text[], evidence_names text[], evidence_salts bytea[], evidence_contents text[],
    evidence_tenants text[], evidence_anonymous boolean[]
  ) RETURNS SETOF text LANGUAGE plpgsql AS $$
  DECLARE
    refused text;
  BEGIN
    SELECT asked INTO refused FROM unnest(categories) AS asked
      WHERE NOT EXISTS (SELECT FROM seal_categories c WHERE c.role = session_user AND c.category = asked) LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'The role % may not request receipts of category %', session_user, refused
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    -- A device runs what such a receipt issues.
    PERFORM FROM unnest(categories, payloads) AS r (category, payload)
      WHERE category = 'device_command' AND payload::json ->> 'action' = 'issued' AND session_user <> 'sealoop_worker';
    IF FOUND THEN
      RAISE EXCEPTION 'The role % may not issue commands', session_user USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN QUERY SELECT * FROM add_seal_requests(ids, categories, payloads, request_hashes,
      evidence_ids, evidence_names, evidence_salts, evidence_contents, evidence_tenants, evidence_anonymous);
  END $$;

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
  -- Whoever may call it can't rewrite anything, and can introduce a key by a receipt of the key before alone. Signatures
  -- are for the verifiers to check: PostgreSQL has no Ed25519.
  CREATE FUNCTION append_receipts(
    expected_size bigint, expected_hash bytea, signing_key bytea, ids text[], categories text[], hashes bytea[],
    records bytea[], signatures bytea[], seqs bigint[]
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    n int := cardinality(ids);
    d text := format('[1:%s]', n);
    key_in_force bytea;
    wrong bigint;
  BEGIN
    -- Else an element that is read by its number is not there, and the head or a key would be null.
    IF n = 0 OR (array_dims(ids), array_dims(categories), array_dims(hashes), array_dims(records), array_dims(signatures))
      IS DISTINCT FROM (d, d, d, d, d) THEN
      RAISE EXCEPTION 'A batch has at least one receipt, and as many of everything' USING ERRCODE = 'check_violation';
    END IF;
    UPDATE ledger_head SET size = size + n, hash = hashes[n]
      WHERE size = expected_size AND hash IS NOT DISTINCT FROM expected_hash;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The ledger is not at size % any more: another sequencer is at work', expected_size
        USING ERRCODE = 'serialization_failure';
    END IF;
    SELECT expected_size + r.n - 1 INTO wrong
      FROM (
        SELECT u.*, lag(u.hash, 1, expected_hash) OVER (ORDER BY u.n) AS hash_before
        FROM unnest(ids, categories, hashes, records) WITH ORDINALITY AS u (id, category, hash, record, n)
      ) AS r CROSS JOIN LATERAL json_to_record(convert_from(r.record, 'UTF8')::json)
        AS f (id text, category text, chain_position text, prev_hash text)
      WHERE (f.id, f.category, f.chain_position, f.prev_hash, sha256(r.record)) IS DISTINCT FROM
        (r.id, r.category, (expected_size + r.n - 1)::text, coalesce(encode(r.hash_before, 'hex'), ''), r.hash)
      LIMIT 1;
    IF FOUND THEN
      RAISE EXCEPTION 'The receipt for position % is not linked to the one before, or not what it is said to be', wrong
        USING ERRCODE = 'check_violation';
    END IF;
    SELECT public_key INTO key_in_force FROM ledger_keys
      WHERE from_position <= expected_size ORDER BY ledger_keys.n DESC LIMIT 1;
    IF categories && ARRAY['ledger_genesis', 'key_rotated', 'ledger_adopted'] THEN
      PERFORM introduce_keys(expected_size, signing_key, key_in_force, categories, records[1]);
      INSERT INTO seal_requests (id, request_hash) VALUES (ids[1], sha256('')) -- nobody can request this id
        ON CONFLICT (id) DO NOTHING;
    ELSIF signing_key IS DISTINCT FROM key_in_force THEN
      RAISE EXCEPTION 'The key % does not sign the ledger at size %', encode(signing_key, 'hex'), expected_size
        USING ERRCODE = 'check_violation';
    END IF;
    INSERT INTO receipts (position, id, category, hash, record, signature)
      SELECT expected_size + r.n - 1, r.id, r.category, r.hash, r.record, r.signature
      FROM unnest(ids, categories, hashes, records, signatures) WITH ORDINALITY
        AS r (id, category, hash, record, signature, n);
    DELETE FROM seal_outbox WHERE seq = ANY (seqs);
    PERFORM pg_notify('sealoop_sealed', (expected_size + n)::text);
  END $$;

  -- Publishes the keys that a receipt introduces, which is a batch of its own. See ledger/rules/succession.ts.
  CREATE FUNCTION introduce_keys(
    at bigint, signing_key bytea, key_in_force bytea, categories text[], record bytea
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    details json := convert_from(record, 'UTF8')::json -> 'details';
    recovery bytea := decode(details ->> 'recovery_key', 'hex');
    recovery_in_force bytea;
    allowed boolean;
  BEGIN
    SELECT recovery_key INTO recovery_in_force FROM ledger_keys
      WHERE from_position <= at ORDER BY n DESC LIMIT 1;
    allowed := cardinality(categories) = 1 AND recovery IS NOT NULL AND CASE categories[1]
      WHEN 'ledger_genesis' THEN at = 0
      WHEN 'ledger_adopted' THEN at > 0 AND (recovery_in_force IS NULL
        OR EXISTS (SELECT FROM ledger_import WHERE size = at AND finished_at IS NOT NULL))
      ELSE signing_key = key_in_force AND recovery = recovery_in_force OR signing_key = recovery_in_force
    END;
    IF allowed IS NOT TRUE THEN
      RAISE EXCEPTION 'The key % may not introduce a key at position %', encode(signing_key, 'hex'), at
        USING ERRCODE = 'check_violation';
    END IF;
    IF categories[1] <> 'key_rotated' OR signing_key <> key_in_force THEN
      INSERT INTO ledger_keys (from_position, public_key, recovery_key) VALUES (at, signing_key,
        CASE categories[1] WHEN 'key_rotated' THEN recovery_in_force ELSE recovery END);
    END IF;
    IF categories[1] = 'key_rotated' THEN
      INSERT INTO ledger_keys (from_position, public_key, recovery_key)
        VALUES (at + 1, decode(details ->> 'new_key', 'hex'), recovery);
    END IF;
  END $$;

  -- Takes the requests of receipts that are part of the chain from the outbox, under whatever number they are there, and
  -- remembers their ids: after a loss, or a crash between signature and commit.
  CREATE FUNCTION settle_requests(ids text[]) RETURNS void LANGUAGE sql AS $$
    DELETE FROM seal_outbox WHERE id IN (SELECT r.id FROM receipts r WHERE r.id = ANY (ids));
    INSERT INTO seal_requests (id, request_hash) SELECT r.id, '' FROM receipts r WHERE r.id = ANY (ids)
      ON CONFLICT (id) DO NOTHING;
  $$;
`;
