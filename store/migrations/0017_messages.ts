/** Messages of the feed. Each has a position, in the order in which their transactions commit. */
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
  SELECT wall_off(false, 'messages', 'message_counts');
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
