import type { Knex } from "knex";

/**
 * Bytes of all receipts of a batch travel to the database as one piece, as an array of them would have to be written
 * as text; and of the indexes goes what an insert pays for and no question needs.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    DROP INDEX receipts_hash_prefix; -- a prefix of a hash is a range of the unique one
    DROP INDEX receipts_supersedes;
    CREATE INDEX receipts_supersedes ON receipts (supersedes_of(record))
      WHERE era = 3 AND position('"supersedes":'::bytea IN record) > 0;

    DROP FUNCTION append_receipts(
      bigint, bytea, text[], bytea[], text[], bytea[], bytea[], bigint[]
    );
    -- One batch: moves the head from where it must be, adds the receipts, empties the outbox, tells. Each receipt has
    -- 32 bytes of the hashes, 64 of the signatures, and of the records as many as are named.
    CREATE FUNCTION append_receipts(
      expected_size bigint, expected_hash bytea, ids text[], categories text[], hashes bytea, signatures bytea,
      records bytea, starts int[], lengths int[], seqs bigint[]
    ) RETURNS void LANGUAGE plpgsql AS $$
    DECLARE
      n int := cardinality(ids);
    BEGIN
      UPDATE ledger_head SET size = size + n, hash = substr(hashes, n * 32 - 31, 32)
        WHERE size = expected_size AND hash IS NOT DISTINCT FROM expected_hash;
      IF NOT FOUND THEN
        RAISE EXCEPTION 'The ledger is not at size % any more: another sequencer is at work', expected_size
          USING ERRCODE = 'serialization_failure';
      END IF;
      INSERT INTO receipts (position, id, hash, category, record, signature)
        SELECT expected_size + nr - 1, i, substr(hashes, nr::int * 32 - 31, 32), c, substr(records, s + 1, l),
          substr(signatures, nr::int * 64 - 63, 64)
        FROM unnest(ids, categories, starts, lengths) WITH ORDINALITY AS t (i, c, s, l, nr);
      DELETE FROM seal_outbox WHERE seq = ANY (seqs);
      PERFORM pg_notify('sealoop_sealed', (expected_size + n)::text);
    END $$;
    REVOKE ALL ON FUNCTION append_receipts FROM PUBLIC;
    GRANT EXECUTE ON FUNCTION append_receipts TO sealoop_sequencer;
  `);
}
