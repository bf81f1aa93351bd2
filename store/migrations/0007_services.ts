/** The services that are watched, and the graph of what they depend on. */
export const services = `
  CREATE TABLE services (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id integer GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    type text NOT NULL DEFAULT 'service',
    host text NOT NULL DEFAULT 'localhost',
    owner text,
    origin text NOT NULL CHECK (origin IN ('platform', 'file', 'test', 'discovered')),
    source text NOT NULL DEFAULT '', -- host:path of the services file by which a worker brought it; empty: none
    at_place text,                -- that its entry names, or any; null: that of its host, else of its file
    declared_at text NOT NULL DEFAULT '', -- place whose worker brought it; empty: none
    health_check jsonb,           -- {http} | {tcp} | {command}
    restart jsonb,                -- {command} | {process}; null: none is configured
    runbook text,                 -- id of its own runbook; null: matched by category and finding
    ports jsonb NOT NULL DEFAULT '[]', -- [{port, program}], besides the port of its health check
    watched boolean NOT NULL DEFAULT true,
    status text NOT NULL DEFAULT 'unknown' CHECK (status IN ('unknown', 'up', 'down')),
    failures integer NOT NULL DEFAULT 0, -- failed probes in a row
    checked_at timestamptz,
    updated_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, name),
    UNIQUE (tenant_id, id)
  );
  CREATE INDEX services_lower_name ON services (tenant_id, lower(name)); -- people write names in any case

  CREATE TABLE service_edges (    -- source needs target, whatever the kind
    tenant_id text NOT NULL DEFAULT current_tenant(),
    source integer NOT NULL,
    target integer NOT NULL,
    kind text NOT NULL,
    PRIMARY KEY (tenant_id, source, target, kind),
    FOREIGN KEY (tenant_id, source) REFERENCES services (tenant_id, id) ON DELETE CASCADE,
    FOREIGN KEY (tenant_id, target) REFERENCES services (tenant_id, id) ON DELETE CASCADE,
    CHECK (source <> target)
  );
  CREATE INDEX service_edges_to ON service_edges (tenant_id, target, source);
  SELECT wall_off(false, 'services', 'service_edges');
  CREATE POLICY crossing ON services FOR SELECT TO sealoop_crossing USING (true);

  -- The tenants that a sweep looks at.
  CREATE FUNCTION watched_tenants() RETURNS SETOF text LANGUAGE sql STABLE AS $$
    SELECT t.id FROM tenants t WHERE EXISTS (SELECT FROM services s WHERE s.tenant_id = t.id AND s.watched) ORDER BY 1
  $$;

  -- Services within this many edges of one, each once with its least distance: those that it needs, or those that
  -- need it. Goes level by level, so that a cycle ends where it began and no service is expanded twice.
  CREATE FUNCTION services_reached(start integer, depth integer, needed boolean)
  RETURNS TABLE (id integer, distance integer) LANGUAGE plpgsql STABLE AS $$
  DECLARE
    seen integer[] := ARRAY[start];
    newest integer[] := seen;
  BEGIN
    FOR level IN 1..depth LOOP
      IF needed THEN
        SELECT array_agg(n) INTO newest FROM (
          SELECT e.target AS n FROM service_edges e WHERE e.source = ANY (newest)
          EXCEPT SELECT unnest(seen)) AS found;
      ELSE
        SELECT array_agg(n) INTO newest FROM (
          SELECT e.source AS n FROM service_edges e WHERE e.target = ANY (newest)
          EXCEPT SELECT unnest(seen)) AS found;
      END IF;
      EXIT WHEN newest IS NULL;
      RETURN QUERY SELECT unnest(newest), level;
      seen := seen || newest;
    END LOOP;
  END $$;

  -- A shortest path along the edges, both ends included; null: none has at most this many edges.
  -- Searches from both ends, each time from the one with the smaller frontier, until they meet.
  CREATE FUNCTION services_path(source_id integer, target_id integer, most integer)
  RETURNS integer[] LANGUAGE plpgsql STABLE AS $$
  DECLARE
    ahead integer[] := ARRAY[source_id];      -- reached from the source, and over which service
    ahead_over integer[] := ARRAY[0];
    ahead_newest integer[] := ahead;
    back integer[] := ARRAY[target_id];       -- reached from the target, and over which service
    back_over integer[] := ARRAY[0];
    back_newest integer[] := back;
    over integer[];
    met integer := CASE WHEN source_id = target_id THEN source_id END;
    way integer[];
  BEGIN
    FOR level IN 1..most LOOP
      EXIT WHEN met IS NOT NULL;
      IF cardinality(ahead_newest) <= cardinality(back_newest) THEN
        SELECT array_agg(n), array_agg(o) INTO ahead_newest, over FROM (
          SELECT e.target AS n, min(e.source) AS o FROM service_edges e WHERE e.source = ANY (ahead_newest)
          AND NOT EXISTS (SELECT FROM unnest(ahead) AS s (n) WHERE s.n = e.target)
          GROUP BY e.target) AS found;
        ahead := ahead || ahead_newest;
        ahead_over := ahead_over || over;
      ELSE
        SELECT array_agg(n), array_agg(o) INTO back_newest, over FROM (
          SELECT e.source AS n, min(e.target) AS o FROM service_edges e WHERE e.target = ANY (back_newest)
          AND NOT EXISTS (SELECT FROM unnest(back) AS s (n) WHERE s.n = e.source)
          GROUP BY e.source) AS found;
        back := back || back_newest;
        back_over := back_over || over;
      END IF;
      IF over IS NULL THEN RETURN NULL; END IF;
      SELECT min(n) INTO met FROM unnest(ahead_newest) AS a (n) JOIN unnest(back_newest) AS b (n) USING (n);
    END LOOP;
    IF met IS NULL THEN RETURN NULL; END IF;
    way := ARRAY[met];
    WHILE way[1] <> source_id LOOP
      way := ahead_over[array_position(ahead, way[1])] || way;
    END LOOP;
    WHILE way[cardinality(way)] <> target_id LOOP
      way := way || back_over[array_position(back, way[cardinality(way)])];
    END LOOP;
    RETURN way;
  END $$;
`;
