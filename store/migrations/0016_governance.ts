import type { Knex } from "knex";

/** What decides on calls before they run: policies in versions, switches that stop, decisions, and what waits for people. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE governance_policies (
      version integer PRIMARY KEY CHECK (version > 0),
      policy jsonb NOT NULL,
      sha256 text NOT NULL,       -- over the policy's text as it was put in force
      set_at timestamptz NOT NULL DEFAULT now()
    );

    CREATE TABLE governance_stops (
      kind text NOT NULL CHECK (kind IN ('all', 'key', 'tool')),
      name text NOT NULL,         -- key id, or name of a tool or operation; empty: all
      reason text NOT NULL,
      stopped_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (kind, name)
    );

    CREATE TABLE governance_decisions (
      id text PRIMARY KEY,        -- GOV- and 12 hex characters
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      tenant text NOT NULL,
      key_id text NOT NULL,
      principal text NOT NULL,
      door text NOT NULL,
      tool text NOT NULL,         -- the name that the caller used
      operation text NOT NULL,
      effect text NOT NULL,
      decision text NOT NULL CHECK (decision IN ('allow', 'needs_approval', 'deny')),
      rule text NOT NULL,         -- of the policy, or what else decided
      reasons jsonb NOT NULL,
      policy_version text NOT NULL,
      dry_run boolean NOT NULL,
      approval_id text,
      receipt_id text NOT NULL,   -- of the decision itself
      call_receipt_id text,       -- of how the call ended; null: the operation seals that itself
      holder integer,             -- lock that its process holds as long as it lives
      settled boolean NOT NULL    -- false: allowed, and not known yet how it ended
    );
    CREATE INDEX governance_decisions_tenant ON governance_decisions (tenant, at DESC);
    CREATE INDEX governance_decisions_open ON governance_decisions (at) WHERE NOT settled;

    CREATE TABLE governed_acts (
      approval_id text PRIMARY KEY REFERENCES approvals (id) ON DELETE CASCADE,
      decision_id text NOT NULL,
      door text NOT NULL,
      tool text NOT NULL,
      operation text NOT NULL,
      input text NOT NULL,        -- canonical JSON of the checked arguments
      action_sha256 text NOT NULL,
      tenant text NOT NULL,
      key_id text NOT NULL,
      address text NOT NULL,
      state text NOT NULL DEFAULT 'waiting'
        CHECK (state IN ('waiting', 'intended', 'begun', 'done', 'failed', 'refused', 'unknown')),
      holder integer,             -- lock that the process which runs it holds as long as it lives
      output text,                -- JSON of what it gave
      error jsonb,                -- {name, message}
      receipt_id text,
      asked_at timestamptz NOT NULL DEFAULT now(),
      ended_at timestamptz,
      collected_at timestamptz    -- when the caller was given its end
    );
    -- The same call again joins what waits.
    CREATE UNIQUE INDEX governed_acts_open ON governed_acts (key_id, action_sha256) WHERE collected_at IS NULL;

    GRANT SELECT, INSERT, UPDATE, DELETE ON governance_stops, governance_decisions, governed_acts TO sealoop_app;
    GRANT SELECT, INSERT ON governance_policies TO sealoop_app;
  `);
}
