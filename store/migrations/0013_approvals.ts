import type { Knex } from "knex";

/** What people are asked, and what they said: shown from here, decided in the workflow of each approval. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE approvals (
      id text PRIMARY KEY,
      subject text NOT NULL,
      ticket_id text,
      description text NOT NULL DEFAULT '',
      action jsonb NOT NULL,
      action_sha256 text NOT NULL,
      requested_by text NOT NULL,   -- principal
      requested_by_key text,        -- null: the platform itself
      needed integer NOT NULL CHECK (needed BETWEEN 1 AND 10),
      expires_in_seconds integer NOT NULL,
      escalate_after_seconds integer NOT NULL,
      asking_run jsonb,             -- the loop that waits for it
      status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'denied', 'expired')),
      approvers jsonb NOT NULL DEFAULT '[]',
      escalated boolean NOT NULL DEFAULT false,
      moves integer NOT NULL DEFAULT 0, -- how many of its workflow are in here; 0: that has not begun yet
      asked_at timestamptz NOT NULL DEFAULT now(),
      expires_at timestamptz,
      decided_at timestamptz,
      resumed_run jsonb             -- the loop that its approval started
    );
    CREATE INDEX approvals_asked ON approvals (asked_at DESC);
    CREATE INDEX approvals_ticket ON approvals (ticket_id);

    CREATE TABLE approval_moves (
      approval_id text NOT NULL REFERENCES approvals (id),
      number integer NOT NULL,      -- from 1
      at timestamptz NOT NULL DEFAULT clock_timestamp(),
      move text NOT NULL CHECK (move IN ('requested', 'approved', 'denied', 'reopened', 'expired', 'escalated')),
      status text NOT NULL,         -- that it led to
      key_id text,                  -- null: time did it
      principal text,
      receipt_id text NOT NULL,
      PRIMARY KEY (approval_id, number)
    );

    GRANT SELECT, INSERT, UPDATE, DELETE ON approvals, approval_moves TO sealoop_app;
  `);
}
