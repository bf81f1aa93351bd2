/** Silences of alerts. */
export const alerts = `
  CREATE TABLE alert_silences (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- derived from the action: one for each round of a run
    ticket_id text NOT NULL,
    service text NOT NULL,
    state text NOT NULL CHECK (state IN ('intended', 'done', 'not_done', 'unknown')),
    lift text CHECK (lift IN ('intended', 'done', 'not_done', 'unknown')), -- null: nobody has begun to lift it
    wanted integer NOT NULL,      -- number of alerts
    silences text[] NOT NULL DEFAULT '{}', -- Alertmanager's ids
    ends_at timestamptz NOT NULL, -- they end then by themselves
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX alert_silences_end ON alert_silences (tenant_id, ends_at);
  SELECT wall_off(false, 'alert_silences');
`;
