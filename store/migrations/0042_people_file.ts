/** People who sign in by the identity provider: the file that says who may, and what; their keys; sign-ins under way. */
export const peopleFile = `
  -- Versions stay; the newest is in force.
  CREATE TABLE people_policies (
    version integer PRIMARY KEY CHECK (version > 0),
    policy jsonb NOT NULL,
    commitment text NOT NULL,     -- SHA-256 of the salt and the policy's text before it was stored; public
    salt bytea NOT NULL CHECK (length(salt) = 32),
    set_at timestamptz NOT NULL DEFAULT now()
  );

  -- A person of an identity provider, and the key that is theirs in a tenant.
  CREATE TABLE people (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    key_id text NOT NULL,
    issuer text NOT NULL,
    subject text NOT NULL,
    groups text[] NOT NULL,       -- as the provider named them at the last sign-in
    signed_in_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key_id),
    UNIQUE (tenant_id, issuer, subject),
    FOREIGN KEY (tenant_id, key_id) REFERENCES keys
  );
  SELECT wall_off(false, 'people');
  CREATE POLICY crossing ON people TO sealoop_crossing USING (true);

  -- A browser that was sent to the provider. Each is answered once, by that browser.
  CREATE TABLE provider_sign_ins (
    token_hash bytea PRIMARY KEY, -- of the secret in the browser's cookie
    state text NOT NULL,
    nonce text NOT NULL,
    code_verifier text NOT NULL,
    page text NOT NULL,           -- where the person was headed
    expires_at timestamptz NOT NULL
  );

  -- All people of all tenants: one may have moved to another tenant, and a changed file concerns everybody.
  CREATE FUNCTION all_people() RETURNS SETOF people LANGUAGE sql STABLE AS $$
    SELECT * FROM people
  $$;
  -- The valid key of a person in a tenant.
  CREATE FUNCTION key_of_person(of_issuer text, of_subject text, of_tenant text) RETURNS SETOF keys LANGUAGE sql STABLE AS $$
    SELECT keys.* FROM people JOIN keys ON keys.tenant_id = people.tenant_id AND keys.id = people.key_id
    WHERE people.tenant_id = of_tenant AND issuer = of_issuer AND subject = of_subject
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())
  $$;
  -- Adds a person with a key that this transaction has issued: no other key becomes a person's.
  CREATE FUNCTION add_person(
    tenant text, new_key text, new_issuer text, new_subject text, new_groups text[]
  ) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    IF NOT EXISTS (SELECT FROM keys WHERE id = new_key AND created_at = now()) THEN
      RAISE EXCEPTION 'The key % was not issued for this person', new_key USING ERRCODE = 'insufficient_privilege';
    END IF;
    INSERT INTO people (tenant_id, key_id, issuer, subject, groups)
      VALUES (tenant, new_key, new_issuer, new_subject, new_groups);
  END $$;
  -- Notes what the provider says of a person now.
  CREATE FUNCTION note_sign_in(of_issuer text, of_subject text, new_groups text[]) RETURNS void LANGUAGE sql AS $$
    UPDATE people SET groups = new_groups, signed_in_at = now() WHERE issuer = of_issuer AND subject = of_subject
  $$;

  -- Whether the file in force gives a person a right, or any right if none is named.
  CREATE FUNCTION file_gives(person people, wanted text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT EXISTS (
      SELECT FROM (SELECT policy FROM people_policies ORDER BY version DESC LIMIT 1) AS in_force,
        jsonb_array_elements(in_force.policy -> 'people') AS entry
      WHERE in_force.policy ->> 'issuer' = person.issuer AND entry ->> 'tenant' = person.tenant_id AND (wanted IS NULL OR entry -> 'rights' ? wanted)
        AND (entry ->> 'subject' = person.subject OR entry ->> 'group' = ANY (person.groups))
    )
  $$;
  -- Changes the key of a person, never to more than the file in force gives them, and requests the receipt. Returns false
  -- where the key was revoked.
  CREATE FUNCTION change_person_key(
    of_key text, new_tier text, new_scope text, new_may_approve boolean, is_valid boolean,
    receipt_id text, payload text, request_hash bytea
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  DECLARE
    person people;
    details json := payload::json -> 'details';
  BEGIN
    SELECT * INTO person FROM people WHERE key_id = of_key;
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The key % is no key of a person who signs in', of_key USING ERRCODE = 'insufficient_privilege';
    END IF;
    IF new_tier NOT IN ('partner', 'admin') OR is_valid AND NOT (
      file_gives(person, NULL)
      AND (new_tier = 'partner' OR file_gives(person, 'operate'))
      AND (NOT new_may_approve OR file_gives(person, 'approve'))
      AND (new_scope = 'audit'
        OR file_gives(person, 'respond') OR file_gives(person, 'approve') OR file_gives(person, 'operate'))
    ) THEN
      RAISE EXCEPTION 'The people file in force does not give so much to the holder of the key %', of_key
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    UPDATE keys SET tier = new_tier, scope = new_scope, may_approve = new_may_approve,
      expires_at = CASE WHEN is_valid THEN NULL ELSE now() END
      WHERE id = of_key AND revoked_at IS NULL;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM check_key_receipt(of_key, 'key_changed', receipt_id, payload);
    IF (details ->> 'tier', details ->> 'scope', (details ->> 'may_approve')::boolean, (details ->> 'valid')::boolean)
      IS DISTINCT FROM (new_tier, new_scope, new_may_approve, is_valid) THEN
      RAISE EXCEPTION 'The receipt does not say what the key % may do', of_key USING ERRCODE = 'check_violation';
    END IF;
    PERFORM request_key_receipt('key_changed', receipt_id, payload, request_hash, '{}', '{}', '{}', '');
    PERFORM pg_notify('sealoop_keys', of_key);
    RETURN true;
  END $$;
`;
