/**
 * By what receipts are found: the ids that their public fields name, and their days. Derived from the receipts, and no part
 * of what is signed: whoever doubts an answer reads the chain.
 */
export const receiptNames = `
  CREATE TABLE receipt_names (
    name text NOT NULL,           -- e.g. INC-4f1d22a90b7c, key:9f2c4b7a01d3e856
    position bigint NOT NULL,
    PRIMARY KEY (name, position)
  );
  CREATE INDEX receipts_day ON receipts (day_of(era, record), position);

  -- The ids that are a whole text of a record, wherever it stands: the first hundred, however many a caller writes. Works on
  -- bytes, as a changed record may be no UTF-8.
  CREATE FUNCTION names_of(record bytea) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT DISTINCT found[1] FROM (
      SELECT found
      FROM regexp_matches(encode(record, 'escape'), '"([A-Z]{2,5}-[0-9a-f]{12}|key:[0-9a-f]{16})"', 'g') AS found LIMIT 100
    ) AS first_names
  $$;
  CREATE FUNCTION name_receipts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
  BEGIN
    INSERT INTO receipt_names (name, position) SELECT name, position FROM added, names_of(record) AS name;
    RETURN NULL;
  END $$;
  DO $$ BEGIN
    EXECUTE format('ALTER FUNCTION name_receipts() SET search_path = %I, pg_temp', current_schema());
  END $$;
  CREATE TRIGGER named AFTER INSERT ON receipts REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION name_receipts();
`;
