/** Tickets, their timelines, and the effects of repairs. */
export const tickets = `
  CREATE TABLE tickets (
    id text PRIMARY KEY,
    title text NOT NULL,
    description text NOT NULL DEFAULT '',
    severity text NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
    status text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'resolved')),
    phase text NOT NULL CHECK (phase IN ('detected', 'ticketed', 'diagnosed', 'remediated', 'verified', 'sealed')),
    escalated boolean NOT NULL DEFAULT false,
    service text,
    category text,                -- null: not diagnosed
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
  CREATE INDEX tickets_resolved ON tickets (resolved_at) WHERE status = 'resolved';
  CREATE INDEX tickets_fault ON tickets (fingerprint, resolved_at) WHERE fingerprint IS NOT NULL;

  CREATE FUNCTION ticket_resolved() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('sealoop_resolved', NEW.id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER ticket_resolved AFTER INSERT OR UPDATE OF status ON tickets
    FOR EACH ROW WHEN (NEW.status = 'resolved') EXECUTE FUNCTION ticket_resolved();

  CREATE TABLE ticket_events (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    ticket_id text NOT NULL REFERENCES tickets (id),
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    key text NOT NULL,            -- the same event has the same key when a step is repeated
    kind text NOT NULL,
    phase text,
    data jsonb NOT NULL DEFAULT '{}',
    UNIQUE (ticket_id, key)
  );

  CREATE TABLE ticket_sightings ( -- counted here, so that the ticket's run is not signalled by each sweep
    ticket_id text PRIMARY KEY REFERENCES tickets ON DELETE CASCADE,
    found_again bigint NOT NULL   -- how often sweeps found the fault again while a run was on it
  );

  CREATE TABLE effects (
    id text PRIMARY KEY,          -- derived from workflow, run, round and step: the same act has the same id
    ticket_id text NOT NULL,
    service text NOT NULL,
    action_id text,               -- the action that it is a step of
    step text,
    undoes text,                  -- the effect that it undoes
    action jsonb NOT NULL,
    action_sha256 text NOT NULL,
    state text NOT NULL CHECK (state IN ('intended', 'done', 'not_done', 'unknown')),
    detail jsonb NOT NULL DEFAULT '{}',
    intended_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz
  );
  CREATE INDEX effects_intended_at ON effects (intended_at DESC);
  CREATE INDEX effects_action ON effects (action_id);
  CREATE INDEX effects_ticket ON effects (ticket_id);

  GRANT SELECT, INSERT, UPDATE, DELETE ON tickets, ticket_events, ticket_sightings, effects TO sealoop_app;
`;
