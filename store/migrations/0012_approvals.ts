/** Approvals, their moves, and people's votes. Shown from here; decided in the workflow of each approval. */
export const approvals = `
  CREATE TABLE approvals (
    id text PRIMARY KEY,          -- APR- and 12 hex characters
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
    moves integer NOT NULL DEFAULT 0, -- number of recorded moves; 0: its workflow has not begun yet
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
    status text NOT NULL,         -- after the move
    key_id text,                  -- null: a timeout made the move
    principal text,
    receipt_id text NOT NULL,
    not_counted jsonb NOT NULL DEFAULT '[]', -- keys whose earlier approvals no longer counted
    PRIMARY KEY (approval_id, number)
  );

  CREATE TABLE approval_votes (   -- as the gateway took them from valid keys; nothing else counts as a vote
    id text PRIMARY KEY,          -- VOT- and 12 hex characters
    approval_id text NOT NULL REFERENCES approvals (id) ON DELETE CASCADE,
    move text NOT NULL CHECK (move IN ('approved', 'denied', 'reopened')),
    key_id text NOT NULL,
    voted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    number integer,               -- of the move that it became
    refused jsonb,                -- {name, message}: why it became none
    CHECK (number IS NULL OR refused IS NULL)
  );
  -- A key has at most one vote that waits to become a move.
  CREATE UNIQUE INDEX approval_votes_open ON approval_votes (approval_id, key_id)
    WHERE number IS NULL AND refused IS NULL;

  GRANT SELECT, INSERT, UPDATE, DELETE ON approvals, approval_moves, approval_votes TO sealoop_app;
`;
