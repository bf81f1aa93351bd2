/** Spans of calls and of what callers report, and the spans that other tables show: uses of models, and loops with their steps. */
export const observability = `
  CREATE TABLE spans (            -- no texts of callers but the name of a model
    tenant_id text NOT NULL,
    trace_id text NOT NULL CHECK (trace_id ~ '^[0-9a-f]{32}$'),
    span_id text NOT NULL CHECK (span_id ~ '^[0-9a-f]{16}$'),
    parent_id text,               -- null: it is the root of its trace
    kind text NOT NULL CHECK (kind IN ('call', 'reported')),
    name text NOT NULL,           -- of the operation
    door text NOT NULL,           -- rest, mcp or a2a
    error text,                   -- null: it succeeded
    started_at timestamptz NOT NULL,
    ended_at timestamptz NOT NULL, -- by the gateway's clock, as started_at
    stored_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    provider text,
    model text,
    input_tokens bigint,
    output_tokens bigint,
    receipt_id text,
    workflow_id text,
    run_id text,
    exported boolean NOT NULL DEFAULT false, -- at once, so that it is not exported with the others
    PRIMARY KEY (tenant_id, trace_id, span_id)
  );
  -- They come in the order of their ends, and each call pays for every other index.
  CREATE INDEX spans_ended ON spans USING brin (ended_at) WITH (autosummarize = on);
  CREATE INDEX spans_stored ON spans USING brin (stored_at) WITH (autosummarize = on);
  CREATE INDEX spans_receipt ON spans (tenant_id, receipt_id) WHERE receipt_id IS NOT NULL;
  CREATE INDEX spans_run ON spans (tenant_id, workflow_id) WHERE workflow_id IS NOT NULL;
  SELECT wall_off(false, 'spans');
  CREATE POLICY crossing ON spans TO sealoop_crossing USING (true);
  CREATE POLICY crossing ON model_uses FOR SELECT TO sealoop_crossing USING (true);
  CREATE POLICY crossing ON tickets FOR SELECT TO sealoop_crossing USING (true);
  CREATE POLICY crossing ON ticket_events FOR SELECT TO sealoop_crossing USING (true);
  CREATE INDEX model_uses_ended ON model_uses (ended_at);
  CREATE INDEX model_uses_trace ON model_uses (tenant_id, md5(coalesce(decision_id, id)));
  CREATE INDEX ticket_events_at ON ticket_events (at) WHERE phase IS NOT NULL OR kind = 'run_ended';
  CREATE INDEX ticket_events_trace ON ticket_events (tenant_id, md5(split_part(key, '/', 1)))
    WHERE phase IS NOT NULL OR kind = 'run_ended';

  -- Calls of any tenants, which ended together.
  CREATE FUNCTION record_spans(added json) RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    -- For this transaction: losing some spans in a crash of the server is no harm.
    PERFORM set_config('synchronous_commit', 'off', true);
    INSERT INTO spans (tenant_id, trace_id, span_id, kind, name, door, error, started_at, ended_at,
      receipt_id, workflow_id, run_id)
    SELECT tenant, "traceId", "spanId", 'call', name, door, error, "startedAt", "endedAt",
      "receiptId", "workflowId", "runId"
    FROM json_to_recordset(added) AS s (tenant text, "traceId" text, "spanId" text, name text, door text, error text,
      "startedAt" timestamptz, "endedAt" timestamptz, "receiptId" text, "workflowId" text, "runId" text)
    ON CONFLICT DO NOTHING;
  END $$;

  -- All spans that the caller's rights show. Ids are MD5 over ids that are there: a trace's over the decision about the call
  -- that began it, or over the run of a loop; so that each can be found from the other.
  CREATE FUNCTION all_spans() RETURNS TABLE (
    tenant_id text, trace_id text, span_id text, parent_id text, kind text, name text, door text, error text,
    started_at timestamptz, ended_at timestamptz, provider text, model text, input_tokens bigint, output_tokens bigint,
    cost_micro bigint, receipt_id text, workflow_id text, run_id text, exported boolean, stored_at timestamptz
  ) LANGUAGE sql STABLE AS $$
    SELECT tenant_id, trace_id, span_id, parent_id, kind, name, door, error, started_at, ended_at, provider, model,
      input_tokens, output_tokens, NULL::bigint, receipt_id, workflow_id, run_id, exported, stored_at
    FROM spans
    UNION ALL
    SELECT tenant_id, md5(coalesce(decision_id, id)), left(md5(id), 16), left(md5(decision_id || '/call'), 16), 'model', 'chat',
      NULL, CASE WHEN outcome = 'answered' THEN NULL ELSE outcome END, at, ended_at, provider, model,
      input_tokens, output_tokens, cost_micro, receipt_id, NULL, NULL, false, ended_at
    FROM model_uses WHERE ended_at IS NOT NULL
    UNION ALL
    SELECT e.tenant_id, md5(split_part(e.key, '/', 1)),
      left(md5(CASE WHEN e.key LIKE '%/ended' THEN split_part(e.key, '/', 1) ELSE e.ticket_id || e.key END), 16),
      CASE WHEN e.key LIKE '%/ended' THEN NULL ELSE left(md5(split_part(e.key, '/', 1)), 16) END,
      CASE WHEN e.key LIKE '%/ended' THEN 'loop' ELSE 'step' END,
      CASE WHEN e.key LIKE '%/ended' THEN 'itsmLoop' ELSE e.phase END, NULL,
      CASE WHEN e.kind = 'escalated' THEN 'escalated' END,
      coalesce((
        SELECT CASE WHEN e.key LIKE '%/ended' THEN min(b.at) ELSE max(b.at) END FROM ticket_events b
        WHERE b.tenant_id = e.tenant_id AND b.ticket_id = e.ticket_id AND b.id < e.id AND b.phase IS NOT NULL
          AND split_part(b.key, '/', 1) = split_part(e.key, '/', 1)
      ), e.at),
      e.at, NULL, NULL, NULL, NULL, NULL, e.data ->> 'receipt_id', t.workflow_id, split_part(e.key, '/', 1), false, e.at
    FROM ticket_events e JOIN tickets t ON t.tenant_id = e.tenant_id AND t.id = e.ticket_id
    WHERE (e.phase IS NOT NULL OR e.kind = 'run_ended') AND e.key LIKE '%/%'
  $$;

  -- What the exporter has sent to the collector, and how that went.
  CREATE TABLE span_export (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    exported_through timestamptz NOT NULL DEFAULT now(), -- stored_at of spans
    spans bigint NOT NULL DEFAULT 0,
    last_ok_at timestamptz,
    last_error text,              -- for everybody to read; null: it works
    last_error_at timestamptz
  );
  INSERT INTO span_export DEFAULT VALUES;

  -- Spans of all tenants that were stored in a time, for the exporter.
  CREATE FUNCTION spans_to_export(after timestamptz, through timestamptz, most integer) RETURNS TABLE (
    trace_id text, span_id text, parent_id text, kind text, name text, door text, error text,
    started_at timestamptz, ended_at timestamptz, provider text, model text, input_tokens bigint, output_tokens bigint,
    cost_micro bigint, receipt_id text, workflow_id text, run_id text, stored_at timestamptz
  ) LANGUAGE sql STABLE AS $$
    SELECT trace_id, span_id, parent_id, kind, name, door, error, started_at, ended_at, provider, model,
      input_tokens, output_tokens, cost_micro, receipt_id, workflow_id, run_id, stored_at
    FROM all_spans() WHERE stored_at > after AND stored_at <= through AND NOT exported
    ORDER BY stored_at FETCH FIRST most ROWS WITH TIES
  $$;

  -- Deletes old spans of all tenants, a part at a time.
  CREATE FUNCTION prune_spans(older timestamptz, most integer) RETURNS bigint LANGUAGE sql AS $$
    WITH old AS (
      DELETE FROM spans WHERE ctid IN (SELECT ctid FROM spans WHERE ended_at < older LIMIT most) RETURNING 1
    )
    SELECT count(*) FROM old
  $$;

  -- Counts over all tenants, without names of any of them, for metrics.
  CREATE FUNCTION tenant_counts() RETURNS TABLE (kind text, state text, n bigint) LANGUAGE sql STABLE AS $$
    SELECT 'incidents', CASE WHEN escalated THEN 'escalated' ELSE phase END, count(*)
      FROM tickets WHERE status = 'open' GROUP BY 2
    UNION ALL
    SELECT 'devices', CASE WHEN d.status = 'quarantined' THEN 'quarantined'
        WHEN s.online_since IS NULL THEN 'offline' ELSE 'online' END, count(*)
      FROM devices d LEFT JOIN device_states s ON s.tenant_id = d.tenant_id AND s.device_id = d.id GROUP BY 2
    UNION ALL
    SELECT 'approvals', 'pending', count(*) FROM approvals WHERE status = 'pending'
  $$;
`;
