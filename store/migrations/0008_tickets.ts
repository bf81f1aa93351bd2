/** Tickets, their timelines, and the permissions and effects of repairs. */
export const tickets = `
  CREATE TABLE tickets (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
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
    resolved_at timestamptz,
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX tickets_open ON tickets (tenant_id, opened_at) WHERE status = 'open';
  CREATE INDEX tickets_opened ON tickets (tenant_id, opened_at DESC, id DESC);
  CREATE INDEX tickets_run ON tickets (tenant_id, workflow_id, run_id);
  CREATE INDEX tickets_resolved ON tickets (tenant_id, resolved_at) WHERE status = 'resolved';
  CREATE INDEX tickets_fault ON tickets (tenant_id, fingerprint, resolved_at) WHERE fingerprint IS NOT NULL;

  CREATE FUNCTION ticket_resolved() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    PERFORM pg_notify('sealoop_resolved', NEW.tenant_id);
    RETURN NULL;
  END $$;
  CREATE TRIGGER ticket_resolved AFTER INSERT OR UPDATE OF status ON tickets
    FOR EACH ROW WHEN (NEW.status = 'resolved') EXECUTE FUNCTION ticket_resolved();

  CREATE TABLE ticket_events (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id bigint GENERATED ALWAYS AS IDENTITY,
    ticket_id text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    key text NOT NULL,            -- the same event has the same key when a step is repeated
    kind text NOT NULL,
    phase text,
    data jsonb NOT NULL DEFAULT '{}',
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, ticket_id, key),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets
  );

  CREATE TABLE ticket_sightings ( -- counted here, so that the ticket's run is not signalled by each sweep
    tenant_id text NOT NULL DEFAULT current_tenant(),
    ticket_id text NOT NULL,
    found_again bigint NOT NULL,  -- how often sweeps found the fault again while a run was on it
    PRIMARY KEY (tenant_id, ticket_id),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets ON DELETE CASCADE
  );

  CREATE TABLE observations (    -- what was seen before a fault was judged: private evidence
    tenant_id text NOT NULL DEFAULT current_tenant(),
    ticket_id text NOT NULL,
    run_id text NOT NULL,
    round integer NOT NULL,
    source text NOT NULL,
    place integer NOT NULL,       -- among those of its source
    code text NOT NULL,
    says text NOT NULL,
    words text NOT NULL DEFAULT '',
    figures jsonb NOT NULL DEFAULT '{}',
    seen_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, ticket_id, run_id, round, source, place),
    FOREIGN KEY (tenant_id, ticket_id) REFERENCES tickets ON DELETE CASCADE
  );

  CREATE TABLE effects (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- derived from workflow, run, round and step: the same act has the same id
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
    ended_at timestamptz,
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX effects_intended_at ON effects (tenant_id, intended_at DESC);
  CREATE INDEX effects_action ON effects (tenant_id, action_id);
  CREATE INDEX effects_ticket ON effects (tenant_id, ticket_id);

  CREATE TABLE repair_verdicts (  -- what the guardrails said; the worker alone writes it, and no repair believes another table
    tenant_id text NOT NULL DEFAULT current_tenant(),
    action_id text NOT NULL,
    frozen boolean NOT NULL,      -- true: asked again, as a change freeze had begun
    decision text NOT NULL CHECK (decision IN ('allow', 'needs_approval', 'deny')),
    policy_version text NOT NULL,
    receipt_id text NOT NULL,
    decided_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, action_id, frozen)
  );
  SELECT wall_off(false, 'tickets', 'ticket_events', 'ticket_sightings', 'observations', 'effects', 'repair_verdicts');

  -- A run acts for an open ticket that is not escalated. One that was resolved stays so, as a fault that comes back has a
  -- ticket of its own; and the worker alone lets a run go on with one that waits for people.
  CREATE FUNCTION keep_ticket_from_runs() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF OLD.status = 'resolved' AND NEW.status <> 'resolved' THEN
      RAISE EXCEPTION 'The ticket % is resolved, and stays so', OLD.id USING ERRCODE = 'check_violation';
    END IF;
    IF OLD.escalated AND NOT NEW.escalated AND session_user IN ('sealoop_gateway', 'sealoop_tools') THEN
      RAISE EXCEPTION 'The role % may not give the ticket % to a run', session_user, OLD.id
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN NEW;
  END $$;
  CREATE TRIGGER kept_from_runs BEFORE UPDATE ON tickets FOR EACH ROW EXECUTE FUNCTION keep_ticket_from_runs();
`;
