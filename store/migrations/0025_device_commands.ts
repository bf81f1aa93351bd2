/** Scripts for devices, commands, and what devices state about them. */
export const deviceCommands = `
  CREATE TABLE scripts (          -- every version of every script that was released
    sha256 text PRIMARY KEY,      -- of the bytes of its file
    name text NOT NULL,
    version integer NOT NULL,
    origin text NOT NULL CHECK (origin IN ('shipped', 'user')),
    source text NOT NULL,         -- host:path of the folder that has brought it; empty: it is shipped
    document jsonb NOT NULL,
    active boolean NOT NULL,
    release_receipt text NOT NULL, -- receipt that releases it, which devices are shown
    release_salt bytea NOT NULL CHECK (length(release_salt) = 32), -- of that receipt's commitment to it
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now() -- when it was released or withdrawn
  );
  CREATE UNIQUE INDEX scripts_active ON scripts (name) WHERE active;

  CREATE TABLE device_commands (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- CMD- and 12 hex characters
    device_id text NOT NULL,
    argv json NOT NULL,
    account text NOT NULL,        -- who runs it on the device
    timeout_seconds integer NOT NULL,
    output_bytes integer NOT NULL,
    read_only boolean NOT NULL,
    script json,                  -- {id, version, sha256}; null: arguments that no script has
    script_id text,               -- its id, for the index
    expires_at timestamptz NOT NULL,
    description text NOT NULL,    -- for people
    requested_by text NOT NULL,   -- principal, or the part of the platform
    requested_by_key text,
    approval_id text,             -- null: no person was asked
    needed integer NOT NULL,      -- number of people
    grounds json NOT NULL,        -- why people are asked
    instead_of text,              -- the approval that its asker denied, and offers this instead of; null: of none
    status text NOT NULL CHECK (status IN ('waiting_approval', 'queued', 'sealed', 'delivered', 'begun', 'done', 'failed',
      'timed_out', 'refused', 'expired', 'cancelled', 'unknown')),
    code text,                    -- why it was refused, has expired, …
    sequence bigint,              -- among the commands of its device; null: it is not issued
    salt bytea CHECK (length(salt) = 32), -- of the issued receipt's commitment
    issued_receipt text,
    position bigint,              -- of that receipt in the ledger; null: not sealed yet
    offered_at timestamptz,       -- when the device was first sent it
    begun_receipt text,
    begun_at timestamptz,
    ended_receipt text,
    ended_at timestamptz,
    ended_by text CHECK (ended_by IN ('device', 'platform')),
    exit_code integer,
    output_sha256 text,           -- SHA-256 of a salt and the output, as the device has stated
    output bytea,                 -- as far as it was kept, once it has come
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    request json,                 -- what a server was asked for, from which the worker makes the command again; null: the worker's own
    stored_by text NOT NULL DEFAULT session_user, -- the role that stored it; no role may say another
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, device_id, sequence),
    FOREIGN KEY (tenant_id, device_id) REFERENCES devices
  );
  CREATE INDEX device_commands_newest ON device_commands (tenant_id, device_id, created_at DESC, id);
  CREATE INDEX device_commands_open ON device_commands (tenant_id, device_id, sequence)
    WHERE status IN ('queued', 'sealed');
  CREATE INDEX device_commands_outputs ON device_commands (tenant_id, script_id, device_id, ended_at DESC)
    WHERE status = 'done' AND output IS NOT NULL;

  CREATE TABLE device_statements ( -- as the runners of devices have signed them
    tenant_id text NOT NULL DEFAULT current_tenant(),
    device_id text NOT NULL,
    sequence bigint NOT NULL,     -- among the statements of its device
    command_id text,
    body text NOT NULL,           -- canonical JSON, with the signature
    salt bytea NOT NULL CHECK (length(salt) = 32),
    receipt_id text NOT NULL,
    stated_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, device_id, sequence),
    FOREIGN KEY (tenant_id, device_id) REFERENCES devices
  );
  CREATE INDEX device_statements_command ON device_statements (tenant_id, command_id);
  SELECT wall_off(false, 'device_commands', 'device_statements');
`;
