/** Every version of every runbook that was in force, and the parameters that services set. */
export const runbooks = `
  CREATE TABLE runbooks (
    sha256 text PRIMARY KEY,      -- of the bytes of its file
    name text NOT NULL,
    version text NOT NULL,
    origin text NOT NULL CHECK (origin IN ('shipped', 'user')),
    source text NOT NULL,         -- host:path of the folder that has brought it; empty: it is shipped
    document jsonb NOT NULL,
    active boolean NOT NULL,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now() -- when it came into force or went out of it
  );
  CREATE UNIQUE INDEX runbooks_active ON runbooks (name) WHERE active;

  CREATE TABLE runbook_commands (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    sha256 text NOT NULL          -- of the files of the allow-list
  );

  CREATE TABLE runbook_values (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    service text NOT NULL,
    source text NOT NULL,         -- host:path of the services file that has brought them
    given jsonb NOT NULL,         -- parameter → value
    PRIMARY KEY (tenant_id, service)
  );
  SELECT wall_off(false, 'runbook_values');
`;
