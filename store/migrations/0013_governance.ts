/** Policies in versions, stops, the decision about each call, and calls that are held for an approval. */
export const governance = `
  -- Versions stay, as verdicts and decisions name them; the newest is in force.
  CREATE TABLE guard_policies (
    version integer PRIMARY KEY CHECK (version > 0),
    policy jsonb NOT NULL,
    commitment text NOT NULL,     -- SHA-256 of the salt and the policy's text before it was stored; public
    salt bytea NOT NULL CHECK (length(salt) = 32),
    set_at timestamptz NOT NULL DEFAULT now()
  );
  CREATE TABLE governance_policies (
    version integer PRIMARY KEY CHECK (version > 0),
    policy jsonb NOT NULL,
    commitment text NOT NULL,     -- SHA-256 of the salt and the policy's text before it was stored; public
    salt bytea NOT NULL CHECK (length(salt) = 32),
    set_at timestamptz NOT NULL DEFAULT now()
  );

  CREATE TABLE governance_stops (
    kind text NOT NULL CHECK (kind IN ('all', 'key', 'tool')),
    name text NOT NULL,           -- key id, or name of a tool or operation
    reason text NOT NULL,
    stopped_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (kind, name)
  );

  CREATE TABLE governance_decisions (
    tenant_id text NOT NULL,
    id text NOT NULL,             -- GOV- and 12 hex characters
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    key_id text NOT NULL,
    principal text NOT NULL,
    door text NOT NULL,           -- rest, mcp or a2a
    tool text NOT NULL,           -- the name that the caller used
    operation text NOT NULL,
    effect text NOT NULL,
    decision text NOT NULL CHECK (decision IN ('allow', 'needs_approval', 'deny')),
    rule text NOT NULL,           -- of the policy, or what else decided
    reasons jsonb NOT NULL,
    caller_approves boolean NOT NULL,  -- the call itself was the decision of a person who may approve
    policy_version text NOT NULL,
    dry_run boolean NOT NULL,
    approval_id text,
    receipt_id text NOT NULL,     -- of the decision itself
    call_receipt_id text,         -- of the call's end; null: the operation seals that itself
    holder integer,               -- advisory lock that the call's process holds as long as it lives
    settled boolean NOT NULL,     -- false: the call was allowed, and its end is not known yet
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX governance_decisions_newest ON governance_decisions (tenant_id, at DESC, id DESC);
  CREATE INDEX governance_decisions_open ON governance_decisions (tenant_id, at) WHERE NOT settled;

  -- Puts decisions about calls of any tenants on record with the receipts that are requested for them: all or none.
  CREATE FUNCTION record_decisions(
    decisions json, ids text[], categories text[], payloads text[], request_hashes bytea[],
    evidence_ids text[], evidence_names text[], evidence_salts bytea[], evidence_contents text[],
    evidence_tenants text[], evidence_anonymous boolean[]
  ) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    added bigint;
  BEGIN
    -- An allowed call that is sealed when it ends stays unsettled until then.
    INSERT INTO governance_decisions (
      id, tenant_id, key_id, principal, door, tool, operation, effect, decision, rule, reasons, caller_approves,
      policy_version, dry_run, approval_id, receipt_id, call_receipt_id, holder, settled
    )
    SELECT
      id, tenant, "keyId", principal, door, tool, operation, effect, decision, rule, reasons,
      "callerApproves", "policyVersion", "dryRun", "approvalId", "receiptId", "callReceiptId", holder, NOT runs OR "callReceiptId" IS NULL
    FROM json_to_recordset(decisions) AS d (
      id text, tenant text, "keyId" text, principal text, door text, tool text, operation text, effect text,
      decision text, rule text, reasons jsonb, "callerApproves" boolean, "policyVersion" text,
      "dryRun" boolean, "approvalId" text, "receiptId" text, "callReceiptId" text, holder integer, runs boolean
    );
    SELECT count(*) INTO added FROM request_seals(
      ids, categories, payloads, request_hashes,
      evidence_ids, evidence_names, evidence_salts, evidence_contents, evidence_tenants, evidence_anonymous
    );
    IF added < cardinality(ids) THEN
      RAISE EXCEPTION 'The id of a decision''s receipt is taken' USING ERRCODE = 'unique_violation';
    END IF;
  END $$;

  CREATE TABLE held_calls (       -- calls that wait for, or were released by, an approval
    tenant_id text NOT NULL DEFAULT current_tenant(),
    approval_id text NOT NULL,
    decision_id text NOT NULL,
    door text NOT NULL,
    tool text NOT NULL,
    operation text NOT NULL,
    input text NOT NULL,          -- canonical JSON of the checked arguments
    action_sha256 text NOT NULL,
    key_id text NOT NULL,
    address text NOT NULL,
    state text NOT NULL DEFAULT 'waiting'
      CHECK (state IN ('waiting', 'intended', 'begun', 'done', 'failed', 'refused', 'unknown')),
    holder integer,               -- advisory lock that the process which runs it holds as long as it lives
    output text,                  -- JSON
    error jsonb,                  -- {name, message}
    receipt_id text,
    asked_at timestamptz NOT NULL DEFAULT now(),
    ended_at timestamptz,
    collected_at timestamptz,     -- when the caller was given its end
    PRIMARY KEY (tenant_id, approval_id),
    FOREIGN KEY (tenant_id, approval_id) REFERENCES approvals ON DELETE CASCADE
  );
  -- The same call again joins the one that waits.
  CREATE UNIQUE INDEX held_calls_open ON held_calls (tenant_id, key_id, action_sha256) WHERE collected_at IS NULL;

  -- What became of a call stays, and so does a call that was released.
  CREATE TRIGGER released_stays BEFORE DELETE ON held_calls
    FOR EACH ROW WHEN (OLD.state <> 'waiting') EXECUTE FUNCTION refuse_change();

  CREATE TABLE idempotent_calls ( -- calls with an idempotency key, for a day
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- SHA-256 over the caller, the operation and the idempotency key, hex
    operation text NOT NULL,
    input_sha256 text NOT NULL,
    state text NOT NULL DEFAULT 'claimed' CHECK (state IN ('claimed', 'running', 'failed', 'held', 'ended')),
    attempt integer NOT NULL DEFAULT 1,
    holder integer,               -- advisory lock that the process which runs it holds as long as it lives
    decision_id text,             -- of the call as it began; null: the caller has no key
    approval_id text,             -- held: the answer is how this approval stands
    output text,                  -- ended: JSON
    error jsonb,
    first_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX idempotent_calls_age ON idempotent_calls (tenant_id, first_at);

  CREATE TABLE call_effects (     -- what calls make, so that it is found if their process dies before they end
    tenant_id text NOT NULL DEFAULT current_tenant(),
    decision_id text NOT NULL,
    ids jsonb NOT NULL,           -- of what the call makes, by their names; public
    output jsonb,                 -- further output; private
    at timestamptz NOT NULL DEFAULT now(),
    stored_by text NOT NULL DEFAULT session_user, -- the role that stored it; no role may say another
    act_ended boolean NOT NULL DEFAULT false, -- true: the end of the act outside that it made is sealed
    PRIMARY KEY (tenant_id, decision_id)
  );
  CREATE INDEX call_effects_at ON call_effects (tenant_id, at);
  CREATE INDEX call_effects_acts ON call_effects (tenant_id) WHERE ids ? 'act_id' AND NOT act_ended;
  SELECT wall_off(false, 'governance_decisions', 'held_calls', 'idempotent_calls', 'call_effects');
  CREATE POLICY crossing ON governance_decisions FOR INSERT TO sealoop_crossing WITH CHECK (true);
`;
