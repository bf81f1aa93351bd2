import type { Knex } from "knex";

/** Keys and limits, the services that are watched, tickets, and what was done about them. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
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
      subject text NOT NULL,      -- key id, or client address
      kind text NOT NULL,         -- what is counted
      period_start timestamptz NOT NULL,
      used bigint NOT NULL,
      PRIMARY KEY (subject, kind, period_start)
    );
    CREATE INDEX usage_period ON usage (period_start);

    -- Takes as much of each limit as fits, and says how much was used before. Rows are locked in one order.
    CREATE FUNCTION take_usage(
      subjects text[], kinds text[], starts timestamptz[], wanted bigint[], limits bigint[]
    ) RETURNS TABLE (used_before bigint) LANGUAGE plpgsql AS $$
    DECLARE
      taken bigint[] := array_fill(0::bigint, ARRAY[cardinality(subjects)]);
      i int;
      before bigint;
    BEGIN
      PERFORM set_config('synchronous_commit', 'off', true); -- for this transaction: it is only counting
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

    CREATE TABLE services (
      name text PRIMARY KEY,
      type text NOT NULL DEFAULT 'service',
      host text NOT NULL DEFAULT 'localhost',
      owner text,
      origin text NOT NULL CHECK (origin IN ('platform', 'file', 'test')),
      health_check jsonb,         -- {http} | {tcp} | {command}
      restart jsonb,              -- {command} | {process}; null: nothing is listed
      watched boolean NOT NULL DEFAULT true,
      status text NOT NULL DEFAULT 'unknown' CHECK (status IN ('unknown', 'up', 'down')),
      failures integer NOT NULL DEFAULT 0,  -- failed probes in a row
      checked_at timestamptz,
      updated_at timestamptz NOT NULL DEFAULT now()
    );
    CREATE TABLE service_dependencies (
      service text NOT NULL REFERENCES services (name) ON DELETE CASCADE,
      depends_on text NOT NULL REFERENCES services (name) ON DELETE CASCADE,
      PRIMARY KEY (service, depends_on)
    );
    CREATE INDEX service_dependents ON service_dependencies (depends_on);

    CREATE TABLE tickets (
      id text PRIMARY KEY,
      title text NOT NULL,
      description text NOT NULL DEFAULT '',
      severity text NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
      status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'resolved')),
      phase text NOT NULL CHECK (phase IN ('detected', 'ticketed', 'diagnosed', 'remediated', 'verified', 'sealed')),
      escalated boolean NOT NULL DEFAULT false,
      service text,
      fingerprint text,
      workflow_id text,
      run_id text,
      requested_by text NOT NULL,
      outcome text,
      resolution text,
      receipt_id text,
      opened_at timestamptz NOT NULL DEFAULT now(),
      resolved_at timestamptz
    );
    CREATE INDEX tickets_open ON tickets (opened_at) WHERE status = 'open';
    CREATE INDEX tickets_opened ON tickets (opened_at DESC);
    CREATE INDEX tickets_run ON tickets (workflow_id, run_id);

    CREATE TABLE ticket_events (
      id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
      ticket_id text NOT NULL REFERENCES tickets (id),
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      key text NOT NULL,          -- what makes it the same event when a step is repeated
      kind text NOT NULL,
      phase text,
      data jsonb NOT NULL DEFAULT '{}',
      UNIQUE (ticket_id, key)
    );

    CREATE TABLE effects (
      id text PRIMARY KEY,        -- from workflow, run and round: the same act has the same id
      ticket_id text NOT NULL,
      service text NOT NULL,
      action jsonb NOT NULL,
      action_sha256 text NOT NULL,
      state text NOT NULL CHECK (state IN ('intended', 'done', 'not_done', 'unknown')),
      detail jsonb NOT NULL DEFAULT '{}',
      intended_at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz
    );
    CREATE INDEX effects_intended_at ON effects (intended_at DESC);

    CREATE TABLE detections (
      detector text PRIMARY KEY,
      last_run_at timestamptz NOT NULL,
      duration_ms double precision NOT NULL,
      probed integer NOT NULL,
      findings integer NOT NULL,
      error text
    );

    GRANT SELECT, INSERT, UPDATE, DELETE ON
      keys, usage, services, service_dependencies, tickets, ticket_events, effects, detections
      TO sealoop_app;
  `);
}
