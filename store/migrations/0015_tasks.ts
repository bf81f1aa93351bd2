/** A2A tasks as they are shown; workflows drive them. */
export const tasks = `
  CREATE TABLE a2a_tasks (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
    context_id text NOT NULL,
    key_id text NOT NULL,         -- the only key that may read it
    state text NOT NULL,
    version integer NOT NULL,     -- a later version is never overwritten by an earlier one
    record json NOT NULL,         -- not jsonb, which refuses some texts that agents may send
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX a2a_tasks_updated ON a2a_tasks (tenant_id, updated_at);
  CREATE INDEX a2a_tasks_key ON a2a_tasks (tenant_id, key_id, updated_at DESC);
  SELECT wall_off(false, 'a2a_tasks');
`;
