/** Standing grants: acts that people have allowed beforehand, so often and until then. */
export const grants = `
  -- What it says is what a passkey has signed: whoever decides by it verifies that first.
  CREATE TABLE grants (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- GRN- and 12 hex characters
    terms jsonb NOT NULL,         -- what was shown and signed
    signed json NOT NULL,         -- the statement, and the passkey's answer
    made_by_key text NOT NULL,
    approval_id text,             -- of the others that it takes; null: it takes none
    receipt_id text NOT NULL,
    made_at timestamptz NOT NULL DEFAULT now(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    revoked_by text,              -- principal
    PRIMARY KEY (tenant_id, id),
    CHECK (expires_at <= made_at + interval '30 days 1 hour')
  );
  CREATE TRIGGER revoked_stays BEFORE UPDATE ON grants
    FOR EACH ROW WHEN (OLD.revoked_at IS NOT NULL) EXECUTE FUNCTION refuse_change();

  -- Each use, before its act. None is ever taken back.
  CREATE TABLE grant_uses (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    grant_id text NOT NULL,
    number integer NOT NULL CHECK (number > 0),
    act text NOT NULL,            -- a governance decision, or an action of a loop
    used_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, grant_id, number),
    UNIQUE (tenant_id, act),
    FOREIGN KEY (tenant_id, grant_id) REFERENCES grants
  );
  SELECT wall_off(false, 'grants', 'grant_uses');
`;
