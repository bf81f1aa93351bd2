import type { Knex } from "knex";

/**
 * What a receipt pays for and nobody needs goes: of the day that is counted, taking a record's end apart by a pattern,
 * as the time of nearly all has the same length; and an index of the outbox that served only to say in what two
 * requests of the same id differ.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    DROP INDEX seal_outbox_id;
    ALTER FUNCTION day_of(smallint, bytea) RENAME TO day_found;
    -- The time of ours is 32 characters, and the last field of canonical bytes: "timestamp":"2026-07-01T…+00:00"}
    CREATE FUNCTION day_of(era smallint, record bytea) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
      SELECT CASE WHEN era = 3 AND substr(record, length(record) - 46, 13) = '"timestamp":"'::bytea
          AND encode(substr(record, length(record) - 33, 10), 'escape') ~ '^\\d{4}-\\d\\d-\\d\\d$'
        THEN encode(substr(record, length(record) - 33, 10), 'escape')
        ELSE day_found(era, record) END
    $$;
  `);
}
