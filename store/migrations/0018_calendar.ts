/** Events of calendars, and the occurrences that they are expanded into. */
export const calendar = `
  -- Ranges of texts. A text is compared for equality by a range that contains it alone, as an exclusion constraint can't
  -- compare texts and ranges in one index without an extension.
  CREATE TYPE text_range AS RANGE (SUBTYPE = text, COLLATION = "C");

  CREATE TABLE calendar_events (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- EVT- and 12 hex characters
    uid text NOT NULL,            -- of iCalendar; never changes
    sequence integer NOT NULL DEFAULT 0, -- of iCalendar: grows with each change
    title text NOT NULL,
    kind text NOT NULL CHECK (kind IN ('meeting', 'freeze', 'maintenance')),
    calendar text NOT NULL,
    starts_at timestamptz NOT NULL, -- of the first occurrence
    ends_at timestamptz NOT NULL,
    time_zone text NOT NULL,      -- IANA name; the rule is about its wall clock
    rrule text,                   -- RFC 5545; null: it takes place once
    location text NOT NULL,
    attendees jsonb NOT NULL,     -- e-mail addresses
    services text[] NOT NULL,     -- that a maintenance holds repairs of; empty: all
    contact_id text,
    busy boolean NOT NULL,
    created_by text NOT NULL,
    created_at timestamptz NOT NULL DEFAULT now(),
    updated_at timestamptz NOT NULL DEFAULT now(),
    cancelled_at timestamptz,
    skipped timestamptz[] NOT NULL DEFAULT '{}', -- starts of occurrences that were left out, as their time was taken
    expanded_until timestamptz,   -- later occurrences are added when it comes nearer; null: there are none
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, uid),
    CHECK (ends_at > starts_at)
  );
  CREATE INDEX calendar_events_expanded ON calendar_events (tenant_id, expanded_until)
    WHERE expanded_until IS NOT NULL AND cancelled_at IS NULL;

  CREATE TABLE calendar_occurrences (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    event_id text NOT NULL,
    starts_at timestamptz NOT NULL,
    ends_at timestamptz NOT NULL,
    kind text NOT NULL,
    calendar text NOT NULL,
    busy boolean NOT NULL,
    PRIMARY KEY (tenant_id, event_id, starts_at),
    FOREIGN KEY (tenant_id, event_id) REFERENCES calendar_events,
    CHECK (ends_at > starts_at),
    -- Busy time is exclusive, whoever writes it. An end is not part of its occurrence.
    CONSTRAINT busy_time EXCLUDE USING gist (
      text_range(tenant_id, tenant_id, '[]') WITH &&,
      text_range(calendar, calendar, '[]') WITH &&,
      tstzrange(starts_at, ends_at) WITH &&
    ) WHERE (busy)
  );
  CREATE INDEX calendar_occurrences_ends ON calendar_occurrences (tenant_id, ends_at);
  CREATE INDEX calendar_occurrences_holds ON calendar_occurrences (tenant_id, kind, ends_at)
    WHERE kind IN ('freeze', 'maintenance');

  CREATE TABLE calendar_links (   -- by which programs read a calendar in the name of a key
    tenant_id text NOT NULL DEFAULT current_tenant(),
    key_id text NOT NULL,
    generation integer NOT NULL,  -- how often the link was renewed; a key without a row has its first link
    renewed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, key_id)
  );
  SELECT wall_off(false, 'calendar_events', 'calendar_occurrences', 'calendar_links');

  -- The tool server books meetings, and takes them back; what holds repairs back it leaves alone.
  CREATE FUNCTION keep_holds() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF session_user = 'sealoop_tools' THEN
      RAISE EXCEPTION 'The role % may change no % of a calendar', session_user, OLD.kind
        USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  END $$;
  CREATE TRIGGER holds_stay BEFORE UPDATE ON calendar_events
    FOR EACH ROW WHEN (OLD.kind <> 'meeting') EXECUTE FUNCTION keep_holds();
  CREATE TRIGGER holds_stay BEFORE DELETE ON calendar_occurrences
    FOR EACH ROW WHEN (OLD.kind <> 'meeting') EXECUTE FUNCTION keep_holds();

  CREATE POLICY crossing ON calendar_events FOR SELECT TO sealoop_crossing USING (tenant_id = 'platform');
  CREATE POLICY crossing ON calendar_occurrences FOR SELECT TO sealoop_crossing USING (tenant_id = 'platform');

  -- The operator's change freezes that hold now, for all tenants: those of the guardrails' policy, and those of the calendar.
  CREATE FUNCTION active_freezes() RETURNS TABLE (event_id text, reason text, ends_at timestamptz)
  LANGUAGE sql STABLE AS $$
    SELECT NULL, f.value ->> 'reason', (f.value ->> 'to')::timestamptz
    FROM (SELECT policy FROM guard_policies ORDER BY version DESC LIMIT 1) AS p,
      jsonb_array_elements(p.policy -> 'freezes') AS f (value)
    WHERE (f.value ->> 'from')::timestamptz <= now() AND now() < (f.value ->> 'to')::timestamptz
    UNION ALL
    SELECT e.id, e.title, o.ends_at
    FROM calendar_occurrences o JOIN calendar_events e ON e.tenant_id = o.tenant_id AND e.id = o.event_id
    WHERE o.tenant_id = 'platform' AND o.kind = 'freeze' AND o.starts_at <= now() AND now() < o.ends_at
    ORDER BY 3 DESC
  $$;

  -- The operator's maintenance window that holds back repairs of a service now, the one that ends last. A window that names
  -- services is about the operator's own; one that names none is about everybody's.
  CREATE FUNCTION active_maintenance(service text) RETURNS TABLE (event_id text, reason text, starts_at timestamptz, ends_at timestamptz)
  LANGUAGE sql STABLE AS $$
    SELECT e.id, e.title, o.starts_at, o.ends_at
    FROM calendar_occurrences o JOIN calendar_events e ON e.tenant_id = o.tenant_id AND e.id = o.event_id
    WHERE o.tenant_id = 'platform' AND o.kind = 'maintenance' AND o.starts_at <= now() AND now() < o.ends_at
      AND (cardinality(e.services) = 0 OR current_tenant() = 'platform' AND service = ANY (e.services))
    ORDER BY o.ends_at DESC, e.id LIMIT 1
  $$;
`;
