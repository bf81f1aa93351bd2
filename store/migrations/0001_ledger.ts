import type { Knex } from "knex";
import { ROLES } from "../connection.ts";

/**
 * The roles, and all that the ledger keeps: the receipts and their head, which anyone may read, and the outbox and
 * the evidence, which are private. Receipts and keys can be added to, and never changed, by whatever role.
 */
export async function up(trx: Knex): Promise<void> {
  for (const role of Object.values(ROLES)) {
    const { rows } = await trx.raw("SELECT 1 FROM pg_roles WHERE rolname = ?", [role]);
    if (rows.length === 0) await trx.raw("CREATE ROLE ?? NOLOGIN", [role]);
    const { rows: [{ member }] } = await trx.raw(
      "SELECT pg_has_role(current_user, ?, 'MEMBER') AS member",
      [role],
    );
    const { rows: [{ able }] } = await trx.raw(
      "SELECT rolsuper OR rolcreaterole AS able FROM pg_roles WHERE rolname = current_user",
    );
    if (!member && able) await trx.raw("GRANT ?? TO CURRENT_USER", [role]);
  }
  await trx.raw(`
    CREATE TABLE receipts (
      position bigint PRIMARY KEY CHECK (position >= 0),
      id text NOT NULL UNIQUE,
      hash bytea NOT NULL UNIQUE,
      category text NOT NULL,
      era smallint NOT NULL DEFAULT 3 CHECK (era IN (1, 2, 3)),
      record bytea NOT NULL,      -- era 3: the canonical bytes; before: the record as it was imported
      signature bytea             -- era 3: Ed25519 over the record
    );
    ALTER TABLE receipts ALTER record SET STORAGE EXTERNAL;
    CREATE INDEX receipts_category ON receipts (category, position);
    -- What a receipt says it corrects; null for nearly all, so the index is small.
    CREATE FUNCTION supersedes_of(record bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT CASE WHEN position('"supersedes":'::bytea IN record) > 0
        THEN convert_from(record, 'UTF8')::json ->> 'supersedes' END
    $$;
    CREATE INDEX receipts_supersedes ON receipts (supersedes_of(record))
      WHERE era = 3 AND supersedes_of(record) IS NOT NULL;
    CREATE INDEX receipts_id_prefix ON receipts (lower(id) text_pattern_ops);
    CREATE INDEX receipts_hash_prefix ON receipts (encode(hash, 'hex') text_pattern_ops);

    CREATE TABLE ledger_head (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      size bigint NOT NULL,
      hash bytea                  -- of the newest receipt; null: there is none
    );
    INSERT INTO ledger_head (size) VALUES (0);

    CREATE TABLE ledger_keys (    -- each is trusted from its position until the next one's
      n bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      from_position bigint NOT NULL,
      public_key bytea NOT NULL CHECK (length(public_key) = 32),
      added_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE seal_requests (  -- every id that was ever asked for, and what for
      id text PRIMARY KEY,
      request_hash bytea NOT NULL
    );
    CREATE TABLE seal_outbox (
      seq bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      id text NOT NULL,
      payload text NOT NULL
    ) WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 20000);
    CREATE INDEX seal_outbox_id ON seal_outbox (id);
    CREATE TABLE seal_refusals (
      id text PRIMARY KEY,
      reason text NOT NULL,
      at timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE evidence (
      receipt_id text NOT NULL,
      name text NOT NULL,
      salt bytea NOT NULL CHECK (length(salt) = 32),
      content text NOT NULL,
      PRIMARY KEY (receipt_id, name)
    );

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

    -- One batch: moves the head from where it must be, adds the receipts, empties the outbox, tells.
    CREATE FUNCTION append_receipts(
      expected_size bigint, expected_hash bytea, ids text[], hashes bytea[], categories text[],
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
      INSERT INTO receipts (position, id, hash, category, record, signature)
        SELECT expected_size + nr - 1, i, h, c, r, s
        FROM unnest(ids, hashes, categories, records, signatures) WITH ORDINALITY AS t (i, h, c, r, s, nr);
      DELETE FROM seal_outbox WHERE seq = ANY (seqs);
      PERFORM pg_notify('sealoop_sealed', (expected_size + n)::text);
    END $$;

    REVOKE ALL ON FUNCTION append_receipts FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION append_receipts TO sealoop_sequencer;
    GRANT SELECT ON receipts, ledger_head, ledger_keys TO sealoop_app, sealoop_sequencer, sealoop_ledger;
    GRANT INSERT ON receipts, ledger_keys, seal_refusals TO sealoop_sequencer;
    GRANT UPDATE ON ledger_head TO sealoop_sequencer;
    GRANT SELECT, DELETE ON seal_outbox TO sealoop_sequencer;
    GRANT SELECT, INSERT ON seal_outbox, seal_requests TO sealoop_app;
    GRANT SELECT, INSERT, DELETE ON evidence TO sealoop_app;
    GRANT SELECT ON seal_refusals TO sealoop_app, sealoop_sequencer;
  `);
}
