/** Films, speech and transcripts. Their files lie in the data folder, by their content. */
export const media = `
  CREATE TABLE media_files (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    sha256 text NOT NULL,
    media_type text NOT NULL,
    bytes bigint NOT NULL,
    text text,                    -- shown in a drawn card; null: other rows have the texts of the file
    published_at timestamptz,     -- null: only keys of the tenant read it
    created_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, sha256)
  );

  CREATE TABLE video_projects (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('film', 'avatar')),
    title text NOT NULL,
    format text NOT NULL,
    captions boolean NOT NULL,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed')),
    failure text,
    seconds double precision,
    artifacts json,               -- names and hashes of its files
    unsigned_sha256 text,         -- of the film before its manifest was written
    receipt_id text,
    requested_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at timestamptz,
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX video_projects_newest ON video_projects (tenant_id, created_at DESC);

  CREATE TABLE video_scenes (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    project_id text NOT NULL,
    n integer NOT NULL,           -- from 1
    heading text NOT NULL,
    text text NOT NULL,
    image text,                   -- hash of a file, or a path below the inbox folder
    audio_id text,                -- speech that is there already; null: its text is spoken
    incident json,                -- {timeline, receipt_id} that its picture shows in place of the words
    attempts integer NOT NULL DEFAULT 0,
    video_sha256 text,            -- null: not made yet
    sound_sha256 text,
    seconds double precision,
    cues json,                    -- sentences and when they are said
    PRIMARY KEY (tenant_id, project_id, n),
    FOREIGN KEY (tenant_id, project_id) REFERENCES video_projects ON DELETE CASCADE
  );

  CREATE TABLE audio_clips (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('speech', 'post')),
    title text NOT NULL,
    text text NOT NULL,
    voice text NOT NULL,
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed')),
    failure text,
    sha256 text,
    seconds double precision,
    sample_rate integer,
    cues json,
    receipt_id text,
    requested_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, id)
  );

  CREATE TABLE transcripts (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
    source text NOT NULL,         -- URL, or path below the inbox folder
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed')),
    failure text,
    language text NOT NULL DEFAULT 'en',
    seconds double precision,
    words integer,
    text text,
    vtt text,
    segments json,
    receipt_id text,
    requested_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX transcripts_newest ON transcripts (tenant_id, created_at DESC);
  SELECT wall_off(false, 'media_files', 'video_projects', 'video_scenes', 'audio_clips', 'transcripts');

  CREATE INDEX media_files_published ON media_files (sha256) WHERE published_at IS NOT NULL;
  CREATE POLICY crossing ON media_files FOR SELECT TO sealoop_crossing USING (true);
  -- A published file of any tenant, without its name.
  CREATE FUNCTION find_published_file(hash text) RETURNS TABLE (media_type text, bytes bigint) LANGUAGE sql STABLE AS $$
    SELECT media_type, bytes FROM media_files WHERE sha256 = hash AND published_at IS NOT NULL LIMIT 1
  $$;
`;
