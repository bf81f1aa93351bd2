/** The use of language models: the policy in versions, what each day's budget is spent on, and each use. */
export const modelUse = `
  -- Versions stay, as receipts name them; the newest is in force.
  CREATE TABLE model_policies (
    version integer PRIMARY KEY CHECK (version > 0),
    policy jsonb NOT NULL,
    commitment text NOT NULL,     -- SHA-256 of the salt and the policy's text before it was stored; public
    salt bytea NOT NULL CHECK (length(salt) = 32),
    set_at timestamptz NOT NULL DEFAULT now()
  );

  -- What is spent and reserved, of a key or of a whole tenant, on a UTC day.
  CREATE TABLE model_spending (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    subject text NOT NULL,        -- id of a key; '': all keys of the tenant
    day date NOT NULL,
    tokens bigint NOT NULL CHECK (tokens >= 0),
    cost_micro bigint NOT NULL CHECK (cost_micro >= 0), -- millionths of a US dollar
    PRIMARY KEY (tenant_id, subject, day)
  );

  CREATE TABLE model_uses (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- MDL- and 12 hex characters
    key_id text NOT NULL,
    decision_id text,             -- that allowed the call
    receipt_id text NOT NULL,     -- of its end
    provider text NOT NULL,
    model text NOT NULL,          -- that was asked for; once settled, the provider's name of it
    state text NOT NULL DEFAULT 'reserved' CHECK (state IN ('reserved', 'settled')),
    outcome text,                 -- null: it has not ended
    reserved_tokens bigint NOT NULL,
    reserved_micro bigint,        -- null: its price is not known
    input_tokens bigint,          -- null: nobody knows; the reserve counts
    output_tokens bigint,
    cost_micro bigint,            -- null: it has not ended, or its price is not known
    day date NOT NULL DEFAULT (now() AT TIME ZONE 'UTC')::date,
    at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL, -- when it counts as lost with its process
    ended_at timestamptz,
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX model_uses_newest ON model_uses (tenant_id, at DESC);
  CREATE INDEX model_uses_open ON model_uses (tenant_id, expires_at) WHERE state = 'reserved';
  CREATE INDEX model_uses_decision ON model_uses (tenant_id, decision_id);
  SELECT wall_off(false, 'model_spending', 'model_uses');
`;
