/** Keys, and the counts of their uses. */
export const keysAndLimits = `
  CREATE TABLE keys (
    id text PRIMARY KEY,
    key_hash bytea NOT NULL UNIQUE,
    tenant text NOT NULL,
    tier text NOT NULL CHECK (tier IN ('free', 'partner', 'enterprise', 'admin')),
    scope text NOT NULL CHECK (scope IN ('full', 'audit')),
    principal text NOT NULL,
    may_approve boolean NOT NULL DEFAULT false,
    created_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    revoked_at timestamptz,
    last_used_at timestamptz
  );

  CREATE TABLE usage (
    subject text NOT NULL,        -- key id or client address
    kind text NOT NULL,           -- e.g. requests, tools
    period_start timestamptz NOT NULL,
    used bigint NOT NULL,
    PRIMARY KEY (subject, kind, period_start)
  );
  CREATE INDEX usage_period ON usage (period_start);

  -- Takes as much of each limit as fits, and returns how much was used before, in the order of the arguments.
  CREATE FUNCTION take_usage(
    subjects text[], kinds text[], starts timestamptz[], wanted bigint[], limits bigint[]
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
        UPDATE usage u SET used = least(before + wanted[i], limits[i])
          WHERE u.subject = subjects[i] AND u.kind = kinds[i] AND u.period_start = starts[i];
      END IF;
      taken[i] := before;
    END LOOP;
    RETURN QUERY SELECT t FROM unnest(taken) WITH ORDINALITY AS r (t, n) ORDER BY n;
  END $$;

  GRANT SELECT, INSERT, UPDATE, DELETE ON keys, usage TO sealoop_app;
`;
