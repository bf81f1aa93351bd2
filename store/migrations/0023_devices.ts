/** Tokens by which machines of a tenant become its devices, the devices, and who approves for them. */
export const devices = `
  CREATE TABLE tenant_tokens (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL UNIQUE,      -- start of the hash
    token_hash bytea NOT NULL UNIQUE,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,       -- its codes end with it
    PRIMARY KEY (tenant_id, id)
  );

  CREATE TABLE devices (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL UNIQUE,      -- DEV- and the start of the SHA-256 of the public key
    name text NOT NULL,
    platform text NOT NULL,
    public_key text NOT NULL,     -- Ed25519, hex: signs requests
    runner_key text NOT NULL,     -- Ed25519, hex: signs statements
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'quarantined')),
    quarantine text,              -- why; null: it is not quarantined
    enrolled_at timestamptz NOT NULL DEFAULT now(),
    replaces text,                -- the device whose key was lost
    receipt_id text NOT NULL,     -- of the enrolment
    enrolment json NOT NULL,      -- answer to the enrolment, for its repetition
    approvers_version integer NOT NULL DEFAULT 0, -- of the approvers that are pinned on it
    approvers_refused integer,    -- newest version when it refused one; null: none
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX devices_enrolled ON devices (tenant_id, enrolled_at DESC, id);

  CREATE TABLE used_enrolment_codes (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    nonce text NOT NULL,
    device_id text NOT NULL,
    used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, nonce),
    FOREIGN KEY (tenant_id, device_id) REFERENCES devices
  );

  -- Approvers whose own signatures devices ask for. Each version is signed by approvers of the one before.
  CREATE TABLE tenant_approvers (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    version integer NOT NULL,     -- from 1
    approvers json NOT NULL,      -- signatures_required, keys
    signatures json NOT NULL,     -- [{key, signature}]
    receipt_id text NOT NULL,
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, version)
  );
  SELECT wall_off(false, 'tenant_tokens', 'devices', 'used_enrolment_codes', 'tenant_approvers');
  CREATE POLICY crossing ON tenant_tokens TO sealoop_crossing USING (true);
  CREATE POLICY crossing ON devices TO sealoop_crossing USING (true);

  -- All organizations, for keys of tier admin and for the identity provider.
  CREATE FUNCTION all_tenants() RETURNS TABLE (
    id text, name text, alias text, domains text[], status text, idp_mode text, idp_id text, idp_synced_at timestamptz,
    created_at timestamptz, devices integer
  ) LANGUAGE sql STABLE AS $$
    SELECT t.id, name, alias, domains, status, idp_mode, idp_id, idp_synced_at, created_at,
      (SELECT count(*)::int FROM devices d WHERE d.tenant_id = t.id)
    FROM tenants t WHERE t.id <> 'everyone' ORDER BY created_at DESC, t.id
  $$;

  -- A token and a device are looked up before it is known whose they are.
  CREATE FUNCTION find_tenant_token(hash bytea) RETURNS SETOF tenant_tokens LANGUAGE sql STABLE AS $$
    SELECT * FROM tenant_tokens WHERE token_hash = hash AND revoked_at IS NULL AND expires_at > now()
  $$;
  CREATE FUNCTION find_tenant_token_by_id(token_id text) RETURNS SETOF tenant_tokens LANGUAGE sql STABLE AS $$
    SELECT * FROM tenant_tokens WHERE id = token_id AND revoked_at IS NULL AND expires_at > now()
  $$;
  CREATE FUNCTION find_device(device_id text) RETURNS SETOF devices LANGUAGE sql STABLE AS $$
    SELECT * FROM devices WHERE id = device_id
  $$;
`;
