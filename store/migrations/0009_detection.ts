/** Findings of detectors, and the state that detectors keep between sweeps. */
export const detection = `
  CREATE TABLE detections (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    detector text NOT NULL,
    last_run_at timestamptz NOT NULL,
    duration_ms double precision NOT NULL,
    probed integer NOT NULL,
    findings integer NOT NULL,
    error text,
    PRIMARY KEY (tenant_id, detector)
  );

  CREATE TABLE findings (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    fingerprint text NOT NULL,
    detector text NOT NULL,
    service text,                 -- its name at that time; the service may be gone
    host text,
    place text NOT NULL DEFAULT '', -- whose sweep alone looks at it; empty: any place's
    kind text NOT NULL,           -- http, tcp, command, host, log, certificate, platform
    code text NOT NULL,
    severity text NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
    root text NOT NULL,           -- fingerprint of the likely cause; its own where it is the cause
    summary text NOT NULL,        -- one sentence for people
    detail jsonb NOT NULL DEFAULT '{}', -- evidence
    target jsonb NOT NULL DEFAULT '{}', -- what to probe again
    sightings bigint NOT NULL DEFAULT 1,
    first_seen_at timestamptz NOT NULL DEFAULT now(),
    last_seen_at timestamptz NOT NULL DEFAULT now(),
    cleared_at timestamptz,       -- null: the last sweep saw it
    PRIMARY KEY (tenant_id, fingerprint)
  );
  CREATE INDEX findings_open ON findings (tenant_id, detector, host) WHERE cleared_at IS NULL;
  CREATE INDEX findings_seen ON findings (tenant_id, last_seen_at);

  CREATE TABLE probe_history (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    service text NOT NULL,
    looks text NOT NULL DEFAULT '', -- results of the last probes, oldest first: u up, s up but slow, d down
    flapping boolean NOT NULL DEFAULT false,
    usual_ms double precision,    -- how long a probe that passes takes, the newest weighing a tenth; null: none has passed
    spread_ms double precision,   -- by how much it was off what was usual then, likewise; null: fewer than two have passed
    PRIMARY KEY (tenant_id, service),
    FOREIGN KEY (tenant_id, service) REFERENCES services ON DELETE CASCADE
  );

  CREATE TABLE log_places (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    host text NOT NULL,
    path text NOT NULL,
    place jsonb NOT NULL,         -- which file it is, and how far it was read
    state jsonb NOT NULL,         -- templates, usual rates, sources of attacks
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, host, path)
  );
  SELECT wall_off(false, 'detections', 'findings', 'probe_history', 'log_places');
`;
