/** The services that the operator names in public, and what was seen of each since it was last sealed. */
export const publicServices = `
  CREATE TABLE public_services (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    service text NOT NULL,        -- its own name, which stays private
    id text NOT NULL CHECK (id ~ '^SVC-[0-9a-f]{12}$'), -- random: receipts name it by this
    name text NOT NULL,           -- what the public calls it
    published boolean NOT NULL DEFAULT true,
    since timestamptz,            -- of the period that is not sealed yet; null: nothing was seen in it
    until timestamptz,
    probes integer NOT NULL DEFAULT 0,
    failed integer NOT NULL DEFAULT 0,
    observed_ms bigint NOT NULL DEFAULT 0,
    up_ms bigint NOT NULL DEFAULT 0,
    healthy boolean NOT NULL DEFAULT false, -- by the last probe
    PRIMARY KEY (tenant_id, service)
  );
  SELECT wall_off(false, 'public_services');
`;
