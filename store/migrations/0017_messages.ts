/** Messages of the feed, and their deliveries over other channels. Each message has a position, in the order in which their transactions commit. */
export const messages = `
  CREATE TABLE messages (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- MSG- and 12 hex characters
    position bigint,              -- from 1, without gaps; null until the transaction commits
    key text,                     -- the same news has the same key when it is told again; null: it is told once
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    channel text NOT NULL DEFAULT 'feed',
    kind text NOT NULL,
    sender text NOT NULL,
    subject text NOT NULL,
    text text NOT NULL,
    refs jsonb NOT NULL DEFAULT '{}',
    severity text,                -- of what it is about; null: it has none
    service text,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, position),
    UNIQUE (tenant_id, key)
  );

  CREATE TABLE message_counts (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    newest bigint NOT NULL,       -- position of the newest message
    PRIMARY KEY (tenant_id)
  );

  CREATE TABLE message_routing (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    position bigint NOT NULL,     -- up to which it is decided who is told
    PRIMARY KEY (tenant_id)
  );

  CREATE TABLE message_deliveries (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    message_id text NOT NULL,
    number integer NOT NULL,      -- from 1
    rule text,                    -- of the file that names who is told; null: a person names the channel
    ordering integer NOT NULL,    -- its channels are tried one after the other, until one has the message
    channel text NOT NULL,        -- name in the file
    kind text NOT NULL,
    not_before timestamptz,       -- null: at once
    escalates_after interval,     -- told where nobody has acted in this time; null: it is no escalation
    state text NOT NULL DEFAULT 'queued'
      CHECK (state IN ('queued', 'delivered', 'not_delivered', 'unknown', 'skipped')),
    attempts integer NOT NULL DEFAULT 0,
    may_have_arrived boolean NOT NULL DEFAULT false, -- an attempt ended so
    code text,                    -- status_<n>, or why there was no answer
    started_at timestamptz,       -- when its workflow began
    ended_at timestamptz,
    PRIMARY KEY (tenant_id, message_id, number),
    FOREIGN KEY (tenant_id, message_id) REFERENCES messages
  );
  CREATE INDEX message_deliveries_waiting ON message_deliveries (tenant_id, message_id) WHERE started_at IS NULL;
  SELECT wall_off(false, 'messages', 'message_counts', 'message_routing', 'message_deliveries');
  CREATE POLICY crossing ON messages TO sealoop_crossing USING (true);
  CREATE POLICY crossing ON message_counts TO sealoop_crossing USING (true);

  -- Runs when the transaction commits, and holds the tenant's row until it has. So whoever reads a position sees all
  -- messages before it, however long their transactions took.
  CREATE FUNCTION give_position() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    next bigint;
  BEGIN
    INSERT INTO message_counts AS c (tenant_id, newest) VALUES (NEW.tenant_id, 1)
      ON CONFLICT (tenant_id) DO UPDATE SET newest = c.newest + 1 RETURNING newest INTO next;
    UPDATE messages SET position = next WHERE tenant_id = NEW.tenant_id AND id = NEW.id;
    PERFORM pg_notify('sealoop_messages', NEW.tenant_id);
    RETURN NULL;
  END $$;
  CREATE CONSTRAINT TRIGGER give_position AFTER INSERT ON messages DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW EXECUTE FUNCTION give_position();
`;
