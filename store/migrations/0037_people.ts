/** How people sign in: links that work once, sessions, and passkeys with what they are asked to sign. */
export const people = `
  -- A link signs the holder of a key in, once.
  CREATE TABLE sign_in_links (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL UNIQUE,      -- start of the hash
    token_hash bytea NOT NULL UNIQUE,
    key_id text NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    used_at timestamptz,
    recovers boolean NOT NULL,    -- its person may enrol a passkey without another one
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, key_id) REFERENCES keys
  );

  -- A session is never more than its key, and ends with it.
  CREATE TABLE sessions (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL UNIQUE,      -- start of the hash
    token_hash bytea NOT NULL UNIQUE,
    key_id text NOT NULL,
    opened_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    ended_at timestamptz,         -- its person signed out
    recovers boolean NOT NULL,    -- as its link says
    id_token text,                -- of a sign-in by the identity provider, until the person signs out
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, key_id) REFERENCES keys
  );
  CREATE INDEX sessions_of_key ON sessions (tenant_id, key_id);

  -- A passkey is a person's: of every key that has its principal.
  CREATE TABLE passkeys (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- PKY- and 12 hex characters
    principal text NOT NULL,
    name text NOT NULL,           -- as its person calls it
    credential_id text NOT NULL UNIQUE, -- base64url
    public_key json NOT NULL,     -- JWK
    uses bigint NOT NULL,         -- as its authenticator counts; 0: it does not
    enrolled_at timestamptz NOT NULL DEFAULT now(),
    last_used_at timestamptz,
    revoked_at timestamptz,
    receipt_id text NOT NULL,     -- of the enrolment
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX passkeys_of_person ON passkeys (tenant_id, principal);

  -- What a session was given to sign. Each is answered once.
  CREATE TABLE passkey_challenges (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- 32 hex characters
    session_id text NOT NULL,
    about text NOT NULL,          -- an approval, or enrol
    challenge text NOT NULL,      -- base64url
    statement json,               -- null: the challenge is random bytes
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (tenant_id, id)
  );
  SELECT wall_off(false, 'sign_in_links', 'sessions', 'passkeys', 'passkey_challenges');
  CREATE POLICY crossing ON sign_in_links TO sealoop_crossing USING (true);
  CREATE POLICY crossing ON sessions TO sealoop_crossing USING (true);
  CREATE POLICY crossing ON passkeys TO sealoop_crossing USING (true);

  -- Takes a link, which nobody can take again. Returns whose it is; nothing: it is unknown, used, or has expired.
  CREATE FUNCTION take_sign_in_link(hash bytea) RETURNS TABLE (key_id text, recovers boolean) LANGUAGE sql AS $$
    UPDATE sign_in_links SET used_at = now()
    WHERE token_hash = hash AND used_at IS NULL AND expires_at > now() RETURNING sign_in_links.key_id, sign_in_links.recovers
  $$;
  -- A session is looked up before it is known whose it is.
  CREATE FUNCTION find_session(hash bytea) RETURNS SETOF sessions LANGUAGE sql STABLE AS $$
    SELECT * FROM sessions WHERE token_hash = hash AND ended_at IS NULL AND expires_at > now()
  $$;
  -- People of one tenant may decide for another, if their key is of tier admin.
  CREATE FUNCTION find_passkey(credential text) RETURNS SETOF passkeys LANGUAGE sql STABLE AS $$
    SELECT * FROM passkeys WHERE credential_id = credential AND revoked_at IS NULL
  $$;
  -- Notes a use. Returns nothing where the count of its authenticator has not grown: somebody has a copy.
  CREATE FUNCTION note_passkey_use(credential text, count bigint) RETURNS SETOF text LANGUAGE sql AS $$
    UPDATE passkeys SET uses = count, last_used_at = now()
    WHERE credential_id = credential AND revoked_at IS NULL AND (uses < count OR uses = 0 AND count = 0)
    RETURNING id
  $$;
`;
