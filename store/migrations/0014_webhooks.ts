/** Webhooks, and what is to be delivered to each. */
export const webhooks = `
  CREATE TABLE webhooks (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
    url text NOT NULL,
    events text[] NOT NULL,
    secret bytea NOT NULL,        -- encrypted
    created_by text NOT NULL,     -- key id
    created_at timestamptz NOT NULL DEFAULT now(),
    disabled_at timestamptz,      -- its receiver answered that it is gone
    PRIMARY KEY (tenant_id, id)
  );

  CREATE TABLE webhook_deliveries (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- the header webhook-id
    webhook_id text NOT NULL,
    ticket_id text,
    approval_id text,             -- one of the two is set
    type text NOT NULL,
    body text NOT NULL,           -- exactly as it is signed and sent
    state text NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'delivered', 'dead')),
    attempts integer NOT NULL DEFAULT 0,
    last_status integer,          -- HTTP status; null: there was no answer
    last_error text,              -- code
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    started_at timestamptz,       -- when its workflow began
    next_attempt_at timestamptz,
    ended_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, webhook_id) REFERENCES webhooks
  );
  CREATE INDEX webhook_deliveries_waiting ON webhook_deliveries (tenant_id, created_at) WHERE started_at IS NULL;
  CREATE INDEX webhook_deliveries_created ON webhook_deliveries (tenant_id, created_at DESC);
  SELECT wall_off(false, 'webhooks', 'webhook_deliveries');
`;
