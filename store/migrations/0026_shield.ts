/** Policies that devices are checked by. */
export const shield = `
  -- Versions stay, as receipts name them; the newest is in force.
  CREATE TABLE shield_policies (
    version integer PRIMARY KEY CHECK (version > 0),
    policy jsonb NOT NULL,
    commitment text NOT NULL,     -- SHA-256 of the salt and the policy's text before it was stored; public
    salt bytea NOT NULL CHECK (length(salt) = 32),
    set_at timestamptz NOT NULL DEFAULT now()
  );

  -- The tenants that a sweep looks at: those with watched services, and those with devices.
  CREATE OR REPLACE FUNCTION watched_tenants() RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT t.id FROM tenants t
    WHERE EXISTS (SELECT FROM services s WHERE s.tenant_id = t.id AND s.watched)
      OR EXISTS (SELECT FROM devices d WHERE d.tenant_id = t.id)
    ORDER BY 1
  $$;
`;
