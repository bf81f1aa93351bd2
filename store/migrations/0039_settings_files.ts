/** The files in which operators set what the platform does, as the processes that read them have found them. */
export const settingsFiles = `
  CREATE TABLE settings_files (
    name text NOT NULL,           -- services, policy, …
    place text NOT NULL,          -- whose file it is
    host text NOT NULL,           -- on which a process has read it
    path text NOT NULL,
    state text NOT NULL CHECK (state IN ('taken', 'refused')),
    hash text,                    -- SHA-256 of what was read; null: there is no file any more
    mistakes jsonb NOT NULL,      -- each with file, line, column, text, and words that everybody may read
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    taken_at timestamptz,         -- since when its last good content holds; null: there was none
    taken_hash text,
    PRIMARY KEY (name, place)
  );

  -- Returns the files that are refused, of hosts on which a process was heard of within an hour: what a host had that is
  -- gone troubles nobody.
  CREATE FUNCTION refused_settings_files() RETURNS SETOF settings_files LANGUAGE sql STABLE AS $$
    SELECT * FROM settings_files f WHERE state = 'refused' AND EXISTS (
      SELECT FROM processes p WHERE p.host = f.host AND p.heard_at > clock_timestamp() - interval '1 hour')
    ORDER BY since, name, place
  $$;
  CREATE POLICY crossing ON processes FOR SELECT TO sealoop_crossing USING (true);
`;
