/**
 * Tenants, and the walls between them. A row belongs to the tenant that is set for the transaction which adds it, and only
 * transactions of that tenant see it, whoever owns the table. Where no tenant is set, no row is seen.
 *
 * Functions that serve many tenants at once belong to a role that nobody logs in as, with policies of its own.
 */
export const tenants = `
  -- Null: none is set. The setting is empty after the first transaction that had one.
  CREATE FUNCTION current_tenant() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE AS $$
    SELECT nullif(current_setting('sealoop.tenant', true), '')
  $$;

  -- Walls off tables with a column tenant_id. Rows of the tenant "everyone" may be read by all if shared is true.
  CREATE FUNCTION wall_off(shared boolean, VARIADIC tables text[]) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    name text;
  BEGIN
    FOREACH name IN ARRAY tables LOOP
      EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY', name);
      EXECUTE format('CREATE POLICY tenant ON %I USING (tenant_id = current_tenant())', name);
      IF shared THEN
        EXECUTE format('CREATE POLICY everyone ON %I FOR SELECT USING (tenant_id = $t$everyone$t$)', name);
      END IF;
    END LOOP;
  END $$;

  CREATE TABLE tenants (
    id text PRIMARY KEY CHECK (id <> ''),
    name text NOT NULL,
    alias text UNIQUE,
    domains text[] NOT NULL DEFAULT '{}',
    status text NOT NULL DEFAULT 'active' CHECK (status IN ('pending', 'active', 'failed')),
    idp_mode text NOT NULL DEFAULT 'built_in' CHECK (idp_mode IN ('built_in', 'keycloak')),
    idp_id text,                  -- of the organization at the identity provider; null: it has none
    idp_synced_at timestamptz,
    created_at timestamptz NOT NULL DEFAULT now()
  );
  INSERT INTO tenants (id, name) VALUES
    ('platform', 'The operator'), ('everyone', 'What all tenants may read');
  ALTER TABLE tenants ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
  CREATE POLICY tenant ON tenants USING (id = current_tenant());
  CREATE POLICY crossing ON tenants TO sealoop_crossing USING (true);

  -- Ids of the tenants of the operator and of keys.
  CREATE FUNCTION tenant_ids() RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT id FROM tenants WHERE id <> 'everyone' ORDER BY created_at, id
  $$;
  -- Makes a tenant that is not there yet.
  CREATE FUNCTION ensure_tenant(tenant text) RETURNS void LANGUAGE sql AS $$
    INSERT INTO tenants (id, name) VALUES (tenant, tenant) ON CONFLICT (id) DO NOTHING
  $$;
`;
