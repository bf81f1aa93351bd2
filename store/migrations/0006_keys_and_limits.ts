import { SECRETS } from "../rights/mod.ts";

const PURPOSES = Object.keys(SECRETS);
const NEW_SECRET = "sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid()))";

/** Keys, the counts of their uses, and the secrets of the platform. */
export const keysAndLimits = `
  CREATE TABLE keys (
    tenant_id text NOT NULL REFERENCES tenants,
    id text NOT NULL UNIQUE,
    key_hash bytea NOT NULL UNIQUE,
    tier text NOT NULL CHECK (tier IN ('free', 'partner', 'enterprise', 'admin')),
    scope text NOT NULL CHECK (scope IN ('full', 'audit')),
    principal text NOT NULL,
    may_approve boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz,
    PRIMARY KEY (tenant_id, id)
  );
  SELECT wall_off(false, 'keys');
  CREATE POLICY crossing ON keys TO sealoop_crossing USING (true);

  -- A key is looked up before it is known whose it is.
  CREATE FUNCTION find_keys(hashes bytea[]) RETURNS SETOF keys LANGUAGE sql STABLE AS $$
    SELECT * FROM keys WHERE key_hash = ANY (hashes) AND revoked_at IS NULL
  $$;
  -- Who holds or held keys: people of one tenant may decide for another, if their key is of tier admin.
  CREATE FUNCTION keys_by_id(ids text[]) RETURNS SETOF keys LANGUAGE sql STABLE AS $$
    SELECT * FROM keys WHERE id = ANY (ids)
  $$;
  -- All keys, for the operator's commands and the scan for keys that nobody uses.
  CREATE FUNCTION all_keys() RETURNS SETOF keys LANGUAGE sql STABLE AS $$
    SELECT * FROM keys
  $$;
  CREATE FUNCTION touch_keys(ids text[], times timestamptz[]) RETURNS void LANGUAGE sql AS $$
    UPDATE keys SET last_used_at = greatest(last_used_at, used.at)
    FROM unnest(ids, times) AS used (id, at) WHERE keys.id = used.id
  $$;

  -- Refuses a request for a receipt that is not this change of this key, or that has not the exact form which the sequencer
  -- seals: the change would be made, and its receipt refused.
  CREATE FUNCTION check_key_receipt(
    key_id text, change text, receipt_id text, payload text
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    fields json := payload::json;
    details text := CASE change
      WHEN 'key_issued' THEN '"commitments":{"principal":"[0-9a-f]{64}","tenant":"[0-9a-f]{64}"},'
        || '"may_approve":(true|false),"scope":"[a-z]+","tier":"[a-z]+"'
      WHEN 'key_changed' THEN '"may_approve":(true|false),"scope":"[a-z]+","tier":"[a-z]+","valid":(true|false)'
      WHEN 'key_replaced' THEN '"new_key":"[0-9a-f]{16}"'
      ELSE ''
    END;
  BEGIN
    IF (fields ->> 'id', fields ->> 'category', fields ->> 'subject')
      IS DISTINCT FROM (receipt_id, change, 'key:' || key_id) THEN
      RAISE EXCEPTION 'The receipt is not about this change of the key %', key_id USING ERRCODE = 'check_violation';
    END IF;
    IF (fields ->> 'timestamp')::timestamptz IS NULL OR payload !~ ('^[{]"action":"[a-z.]+","actor":"[a-z0-9:]+",'
      || '"category":"[a-z_]+","details":[{]' || details || '[}],"human_input":"","id":"[A-Za-z0-9._:-]{1,128}",'
      || '"outcome":"success","subject":"key:[0-9a-f]{16}","timestamp":"[0-9]{4}-[0-9]{2}-[0-9]{2}T'
      || '([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9][.][0-9]{6}[+]00:00"[}]$') THEN
      RAISE EXCEPTION 'The receipt of the key % would not be sealed', key_id USING ERRCODE = 'check_violation';
    END IF;
  END $$;

  -- Stores a key and requests its receipt, which says what the key may do. Keys of tier admin are the operator's to issue.
  CREATE FUNCTION issue_key(
    new_id text, new_hash bytea, new_tenant text, new_tier text, new_scope text, new_principal text,
    new_may_approve boolean, new_expires_at timestamptz, receipt_id text, payload text, request_hash bytea,
    evidence_names text[], evidence_salts bytea[], evidence_contents text[]
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    details json := payload::json -> 'details';
  BEGIN
    IF new_tier = 'admin' AND session_user <> 'sealoop_operator' THEN
      RAISE EXCEPTION 'The role % may not issue keys of tier admin', session_user
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    PERFORM check_key_receipt(new_id, 'key_issued', receipt_id, payload);
    IF new_id <> left(encode(new_hash, 'hex'), 16)
      OR (details ->> 'tier', details ->> 'scope', (details ->> 'may_approve')::boolean)
        IS DISTINCT FROM (new_tier, new_scope, new_may_approve) THEN
      RAISE EXCEPTION 'The receipt does not say what the key % may do', new_id USING ERRCODE = 'check_violation';
    END IF;
    PERFORM ensure_tenant(new_tenant);
    INSERT INTO keys (id, key_hash, tenant_id, tier, scope, principal, may_approve, expires_at)
      VALUES (new_id, new_hash, new_tenant, new_tier, new_scope, new_principal, new_may_approve, new_expires_at);
    PERFORM request_key_receipt('key_issued', receipt_id, payload, request_hash,
      evidence_names, evidence_salts, evidence_contents, new_tenant);
    PERFORM pg_notify('sealoop_keys', new_id); -- it may be cached as unknown
  END $$;

  -- Sets when a valid key expires, and requests the receipt. Returns false where no such key is valid.
  CREATE FUNCTION expire_key(
    key_id text, new_expires_at timestamptz, receipt_id text, payload text, request_hash bytea
  ) RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE keys SET expires_at = new_expires_at WHERE id = key_id AND revoked_at IS NULL;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM check_key_receipt(key_id, 'key_replaced', receipt_id, payload);
    PERFORM request_key_receipt('key_replaced', receipt_id, payload, request_hash, '{}', '{}', '{}', '');
    PERFORM pg_notify('sealoop_keys', key_id);
    RETURN true;
  END $$;

  -- Revokes a valid key for good, and requests the receipt. Returns false where no such key is valid.
  CREATE FUNCTION revoke_key(key_id text, receipt_id text, payload text, request_hash bytea)
  RETURNS boolean LANGUAGE plpgsql AS $$
  BEGIN
    UPDATE keys SET revoked_at = now() WHERE id = key_id AND revoked_at IS NULL;
    IF NOT FOUND THEN RETURN false; END IF;
    PERFORM check_key_receipt(key_id, 'key_revoked', receipt_id, payload);
    PERFORM request_key_receipt('key_revoked', receipt_id, payload, request_hash, '{}', '{}', '{}', '');
    PERFORM pg_notify('sealoop_keys', key_id);
    RETURN true;
  END $$;

  -- Requests one receipt of a key, whose id must be new: a change without its receipt is undone.
  CREATE FUNCTION request_key_receipt(
    category text, receipt_id text, payload text, request_hash bytea,
    evidence_names text[], evidence_salts bytea[], evidence_contents text[], evidence_tenant text
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    items int[] := ARRAY[cardinality(evidence_names)];
  BEGIN
    PERFORM add_seal_requests(ARRAY[receipt_id], ARRAY[category], ARRAY[payload], ARRAY[request_hash],
      array_fill(receipt_id, items), evidence_names, evidence_salts, evidence_contents, array_fill(evidence_tenant, items),
      array_fill(false, items));
    IF NOT FOUND THEN
      RAISE EXCEPTION 'The id % is another receipt''s', receipt_id USING ERRCODE = 'unique_violation';
    END IF;
  END $$;

  CREATE TABLE usage (
    subject text NOT NULL,        -- key id or client address
    kind text NOT NULL,           -- e.g. requests, tools
    period_start timestamptz NOT NULL,
    used bigint NOT NULL,
    PRIMARY KEY (subject, kind, period_start)
  );
  CREATE INDEX usage_period ON usage (period_start);

  -- Takes as many uses of an amount as fit in each limit, and returns how much was used before, in the order of the
  -- arguments.
  CREATE FUNCTION take_usage(
    subjects text[], kinds text[], starts timestamptz[], wanted bigint[], amounts bigint[], limits bigint[]
  ) RETURNS TABLE (used_before bigint) LANGUAGE plpgsql AS $$
  DECLARE
    taken bigint[] := array_fill(0::bigint, ARRAY[cardinality(subjects)]);
    i int;
    before bigint;
  BEGIN
    IF 0 > ANY (wanted || amounts) THEN RAISE EXCEPTION 'Nothing can be given back'; END IF;
    -- For this transaction: losing some counts in a crash of the server is no harm.
    PERFORM set_config('synchronous_commit', 'off', true);
    -- Rows are locked in one order, so that no two callers wait for each other.
    FOR i IN SELECT n FROM generate_subscripts(subjects, 1) AS n
             ORDER BY subjects[n], kinds[n], starts[n], n LOOP
      INSERT INTO usage AS u VALUES (subjects[i], kinds[i], starts[i], 0)
        ON CONFLICT (subject, kind, period_start) DO NOTHING;
      SELECT u.used INTO before FROM usage u
        WHERE u.subject = subjects[i] AND u.kind = kinds[i] AND u.period_start = starts[i] FOR UPDATE;
      IF before < limits[i] THEN
        UPDATE usage u
          SET used = before + least(wanted[i], (limits[i] - before) / amounts[i]) * amounts[i]
          WHERE u.subject = subjects[i] AND u.kind = kinds[i] AND u.period_start = starts[i];
      END IF;
      taken[i] := before;
    END LOOP;
    RETURN QUERY SELECT t FROM unnest(taken) WITH ORDINALITY AS r (t, n) ORDER BY n;
  END $$;

  -- Keys of HMACs, one for each purpose, each read by its own roles. Each has 244 random bits; all processes share them,
  -- and they are part of every dump, as ids that change would tear findings from their tickets and loops.
  CREATE TABLE platform_secrets (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    ${
  PURPOSES.map((purpose) => `${purpose} bytea NOT NULL CHECK (length(${purpose}) = 32)`).join(
    ",\n    ",
  )
}
  );
  INSERT INTO platform_secrets (${PURPOSES.join(", ")})
    VALUES (${PURPOSES.map(() => NEW_SECRET).join(", ")});
`;
