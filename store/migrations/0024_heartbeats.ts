/** Reports of devices: heartbeats, inventories, the heads of the log that they have seen, and batches to seal. */
export const heartbeats = `
  -- One row a device, changed by each of its heartbeats.
  CREATE TABLE device_states (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    device_id text NOT NULL,
    counter bigint NOT NULL,      -- of the newest heartbeat
    requests bytea[] NOT NULL,    -- SHA-256 of the newest heartbeats, the newest last
    answer text,                  -- to the newest; null: it is being answered
    holder integer NOT NULL,      -- lock of the process that answers it
    last_seen_at timestamptz NOT NULL,
    online_since timestamptz,     -- null: offline
    returned integer NOT NULL DEFAULT 0, -- heartbeats since it was offline
    log_size bigint NOT NULL,     -- of the log that it has accepted
    cosigned_note text,           -- the newest checkpoint that it has accepted and cosigned
    cosignature text,
    journal_seq bigint,           -- the highest of its runner's journal; null: none, or a person has released it
    journal_head text,
    challenge text,               -- that late heartbeats are answered with; null: none came
    challenge_counter bigint,     -- of the newest heartbeat when it was made
    inventory_sha256 text,        -- of the sections below
    firewall json,                -- as it was observed last; null: never
    PRIMARY KEY (tenant_id, device_id),
    FOREIGN KEY (tenant_id, device_id) REFERENCES devices ON DELETE CASCADE
  ) WITH (fillfactor = 50);       -- an answer's length changes each time

  CREATE TABLE device_inventories (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    device_id text NOT NULL,
    section text NOT NULL,        -- os, cpu, memory, …
    content text NOT NULL,        -- canonical JSON
    observed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, device_id, section),
    FOREIGN KEY (tenant_id, device_id) REFERENCES devices ON DELETE CASCADE
  );

  -- Checkpoints that the log's key has signed, and that contradict the log. A device has accepted each.
  CREATE TABLE split_views (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    device_id text NOT NULL,
    size bigint NOT NULL,
    root bytea NOT NULL,
    note text NOT NULL,
    cosignature text NOT NULL,    -- of the device
    receipt_id text NOT NULL,
    seen_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, device_id, size, root),
    FOREIGN KEY (tenant_id, device_id) REFERENCES devices ON DELETE CASCADE
  );

  -- One tenant's part of a receipt over the heartbeats of all tenants.
  CREATE TABLE heartbeat_batches (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    receipt_id text NOT NULL,
    ended_at timestamptz NOT NULL,
    heartbeats text NOT NULL,     -- canonical JSON: the newest heartbeat of each device, in the order of the tree
    salt bytea NOT NULL,
    place integer NOT NULL,       -- of the tenant among all, from 0
    places integer NOT NULL,
    proof bytea[] NOT NULL,       -- hashes from the tenant's salted root to the sealed one
    PRIMARY KEY (tenant_id, receipt_id)
  );
  CREATE INDEX heartbeat_batches_ended ON heartbeat_batches (tenant_id, ended_at);
  SELECT wall_off(false, 'device_states', 'device_inventories', 'split_views', 'heartbeat_batches');
  CREATE POLICY crossing ON device_states FOR SELECT TO sealoop_crossing USING (true);

  -- The newest heartbeats of all tenants, for the receipt over them.
  CREATE FUNCTION heartbeats_since(since timestamptz)
  RETURNS TABLE (tenant_id text, device_id text, counter bigint, last_seen_at timestamptz) LANGUAGE sql STABLE AS $$
    SELECT tenant_id, device_id, counter, last_seen_at FROM device_states WHERE last_seen_at >= since
  $$;

  -- Since when devices could send heartbeats, as far as it was looked at.
  CREATE TABLE gateway_watch (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    up_since timestamptz,         -- null: no gateway was connected to the database
    looked_at timestamptz NOT NULL
  );
`;
