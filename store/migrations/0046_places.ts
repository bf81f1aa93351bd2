/** The places on which the platform acts. */
export const places = `
  CREATE TABLE places (
    name text PRIMARY KEY,        -- private
    public_key text,              -- the place's id, as its receipts have it; null: not enrolled
    registered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    heard_at timestamptz NOT NULL DEFAULT clock_timestamp() -- from one of its workers
  );

  -- Returns the place at which a service is looked at and acted on; any: at whichever.
  CREATE FUNCTION place_of(service services) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce(service.at_place, (SELECT name FROM places WHERE name = lower(service.host)), service.declared_at)
  $$;
`;
