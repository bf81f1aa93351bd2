/** The processes of the platform, as each tells of itself. */
export const processes = `
  -- Emptied by a crash of the database: each process tells of itself again within seconds.
  CREATE UNLOGGED TABLE processes (
    id uuid PRIMARY KEY,          -- of a place in a tree of processes, whose next process keeps it
    name text NOT NULL,
    role text NOT NULL DEFAULT current_user,
    host text NOT NULL,
    pid integer NOT NULL,
    version text NOT NULL,
    restarts integer,             -- of its place; null: nobody counts them
    status text NOT NULL CHECK (status IN ('starting', 'waiting', 'running', 'stopping')),
    waits_for text,
    polls jsonb,                  -- seconds since Temporal last saw a poll, by task queue; null: it polls none
    since timestamptz NOT NULL DEFAULT clock_timestamp(),
    heard_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    CHECK ((role, name) IN (
      ('sealoop_gateway', 'gateway'), ('sealoop_tools', 'mcp'), ('sealoop_tools', 'mcp-stdio'),
      ('sealoop_worker', 'worker'), ('sealoop_sequencer', 'sequencer'), ('sealoop_engine', 'engine'),
      ('sealoop_ledger', 'ledger'), ('sealoop_operator', 'supervisor'),
      ('sealoop_operator', 'postgresql'), ('sealoop_operator', 'temporal')
    ))
  );
  -- A process tells of its own role alone.
  ALTER TABLE processes ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY;
  CREATE POLICY own ON processes USING (role = current_user) WITH CHECK (role = current_user);
  CREATE POLICY shown ON processes FOR SELECT TO sealoop_gateway USING (true);
`;
