/** Approvals, their moves, and people's votes. Shown from here; decided in the workflow of each approval. */
export const approvals = `
  CREATE TABLE approvals (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- APR- and 12 hex characters
    subject text NOT NULL,
    ticket_id text,
    description text NOT NULL DEFAULT '',
    action jsonb NOT NULL,
    action_sha256 text NOT NULL,  -- private: a short action can be guessed from it
    action_commitment text NOT NULL, -- SHA-256 of the salt and the action's canonical JSON; public
    action_salt bytea NOT NULL CHECK (length(action_salt) = 32),
    action_group text NOT NULL,   -- SHA-256 of the action without its target; private likewise
    grounds jsonb NOT NULL,       -- why people are asked; contract/records/ has its fields
    requested_by text NOT NULL,   -- principal
    requested_by_key text,        -- null: the platform itself
    needed integer NOT NULL CHECK (needed BETWEEN 1 AND 10),
    expires_in_seconds integer NOT NULL,
    escalate_after_seconds integer NOT NULL,
    asking_run jsonb,             -- the loop that waits for it
    instead_of text,              -- the approval that its asker denied, and offers this instead of; null: of none
    status text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'approved', 'denied', 'expired', 'outdated')),
    approvers jsonb NOT NULL DEFAULT '[]',
    escalated boolean NOT NULL DEFAULT false,
    moves integer NOT NULL DEFAULT 0, -- number of recorded moves; 0: its workflow has not begun yet
    asked_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz,
    decided_at timestamptz,
    resumed_run jsonb,            -- the loop that its approval started
    stored_by text NOT NULL DEFAULT session_user, -- the role that stored it; no role may say another
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX approvals_asked ON approvals (tenant_id, asked_at DESC);
  CREATE INDEX approvals_waiting ON approvals (tenant_id, action_group, asked_at) WHERE status = 'pending';
  CREATE INDEX approvals_ticket ON approvals (tenant_id, ticket_id);
  CREATE INDEX approvals_offered ON approvals (tenant_id, instead_of) WHERE instead_of IS NOT NULL;

  -- What people were asked about stays. Only a request whose workflow never began may go.
  CREATE TRIGGER asked_stays BEFORE DELETE ON approvals
    FOR EACH ROW WHEN (OLD.moves > 0) EXECUTE FUNCTION refuse_change();

  CREATE TABLE approval_moves (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    approval_id text NOT NULL,
    number integer NOT NULL,      -- from 1
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    move text NOT NULL CHECK (move IN ('requested', 'approved', 'denied', 'reopened', 'expired', 'outdated', 'escalated')),
    status text NOT NULL,         -- after the move
    key_id text,                  -- null: no vote made the move
    principal text,
    reason text,                  -- as its voter gave it, or why it is outdated; null: none
    receipt_id text NOT NULL,
    not_counted jsonb NOT NULL DEFAULT '[]', -- keys whose earlier approvals no longer counted
    PRIMARY KEY (tenant_id, approval_id, number),
    FOREIGN KEY (tenant_id, approval_id) REFERENCES approvals
  );

  CREATE TABLE approval_votes (   -- as the gateway took them from valid keys; nothing else counts as a vote
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- VOT- and 12 hex characters
    approval_id text NOT NULL,
    move text NOT NULL CHECK (move IN ('approved', 'denied', 'reopened')),
    key_id text NOT NULL,
    reason text,                  -- for people; null: none
    signature json,               -- {key, signature}: by a key of the voter's own; null: none
    statement json,               -- what the voter's passkey has signed, and its answer; null: a key voted
    offer json,                   -- {runbook, values}: the repair that is offered instead of the denied one; null: none
    voted_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    number integer,               -- of the move that it became
    refused jsonb,                -- {name, message}: why it became none
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, approval_id) REFERENCES approvals ON DELETE CASCADE,
    CHECK (number IS NULL OR refused IS NULL)
  );
  -- A key has at most one vote that waits to become a move.
  CREATE UNIQUE INDEX approval_votes_open ON approval_votes (tenant_id, approval_id, key_id)
    WHERE number IS NULL AND refused IS NULL;
  SELECT wall_off(false, 'approvals', 'approval_moves', 'approval_votes');
  CREATE POLICY crossing ON approvals FOR SELECT TO sealoop_crossing USING (true);

  -- Whose an approval is: people with keys of tier admin decide for all tenants.
  CREATE FUNCTION approval_owner(approval text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT t.id FROM tenants t WHERE EXISTS (SELECT FROM approvals a WHERE a.tenant_id = t.id AND a.id = approval)
  $$;
`;
