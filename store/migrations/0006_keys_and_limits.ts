/** Keys, the counts of their uses, and the secret of the platform. */
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

  -- Key of the HMACs by which ids are made from private text. It has 244 random bits; all processes share it, and it is
  -- part of every dump, as ids that change would tear findings from their tickets and loops.
  CREATE TABLE platform_secret (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    secret bytea NOT NULL CHECK (length(secret) = 32)
  );
  INSERT INTO platform_secret (secret)
    VALUES (sha256(uuid_send(gen_random_uuid()) || uuid_send(gen_random_uuid())));

  GRANT SELECT, INSERT, UPDATE, DELETE ON keys, usage TO sealoop_app;
  GRANT SELECT ON platform_secret TO sealoop_app;
  GRANT SELECT ON keys TO sealoop_crossing;
  GRANT UPDATE (last_used_at) ON keys TO sealoop_crossing;
  REVOKE ALL ON FUNCTION find_keys, keys_by_id, all_keys, touch_keys FROM PUBLIC;
  GRANT EXECUTE ON FUNCTION find_keys, keys_by_id, all_keys, touch_keys TO sealoop_app;
  SELECT let_cross('find_keys', 'keys_by_id', 'all_keys', 'touch_keys');
`;
