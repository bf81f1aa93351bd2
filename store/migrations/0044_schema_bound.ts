/**
 * How old a process may be. A migration that processes without it can't work with replaces the function by one that returns
 * its own name; the others leave it.
 */
export const schemaBound = `
  -- Returns the newest migration that a process has to know.
  CREATE FUNCTION oldest_process() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '0044_schema_bound' $$;
`;
