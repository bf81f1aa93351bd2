/** Versions of the settings files. The newest of a file, and of a place where each has its own, is in force everywhere. */
export const configVersions = `
  CREATE TABLE config_versions (
    file text NOT NULL,           -- services, governance, …
    place text NOT NULL,          -- whose it is; empty: it is in force at all
    version integer NOT NULL CHECK (version > 0),
    sha256 text NOT NULL,         -- of the file's bytes; of a folder, over the names and bytes of its files
    content text NOT NULL,        -- of a folder: its files by name, as JSON
    from_place text,              -- whose file was put; null: a command put it
    from_path text,
    put_by text,                  -- user who ran the command; null: a file was put
    put_as text NOT NULL DEFAULT current_user,
    receipt_id text NOT NULL,
    put_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (file, place, version),
    CHECK ((from_place IS NULL) = (from_path IS NULL) AND (from_place IS NULL) <> (put_by IS NULL)),
    CHECK (put_as <> 'sealoop_engine' OR file = 'policy') -- the engine puts the file that it judges by, and no other
  );

  -- Returns the versions in force, with the SHA-256 of each.
  CREATE FUNCTION config_in_force() RETURNS TABLE (file text, place text, version integer, sha256 text, put_at timestamptz)
  LANGUAGE sql STABLE AS $$
    SELECT DISTINCT ON (v.file, v.place) v.file, v.place, v.version, v.sha256, v.put_at
    FROM config_versions v ORDER BY v.file, v.place, v.version DESC
  $$;

  -- Returns the files of workers that differ from what is in force, of hosts on which a process was heard of within an hour.
  -- One that is refused is told of as such.
  CREATE FUNCTION config_drift()
  RETURNS TABLE (name text, place text, path text, since timestamptz, version integer, put_at timestamptz)
  LANGUAGE sql STABLE AS $$
    SELECT f.name, f.place, f.path, greatest(f.since, v.put_at), v.version, v.put_at
    FROM settings_files f
    JOIN config_in_force() v ON v.file = f.name AND (v.place = '' OR v.place = f.place)
    WHERE f.state = 'taken' AND f.hash IS NOT NULL AND f.hash <> v.sha256 AND EXISTS (
      SELECT FROM processes p WHERE p.host = f.host AND p.heard_at > clock_timestamp() - interval '1 hour')
    ORDER BY f.name, f.place
  $$;
`;
