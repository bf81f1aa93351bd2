/** Acts outside whose intent is sealed and whose end is not, where no other row tells that. */
export const acts = `
  CREATE TABLE open_acts (        -- a row comes with the receipt of the intent, and goes with that of the end
    tenant_id text NOT NULL DEFAULT current_tenant(),
    kind text NOT NULL CHECK (kind IN ('peer', 'tenants', 'silence', 'lift')),
    id text NOT NULL,             -- of the act, among those of its kind
    workflow_id text NOT NULL,    -- of the run that is to end it
    run_id text NOT NULL,
    act jsonb NOT NULL,           -- ids that it takes to look what became of it, and to seal that
    intended_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, kind, id)
  );
  SELECT wall_off(false, 'open_acts');
`;
