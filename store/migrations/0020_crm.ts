/** Contacts, deals, what was done about them, addresses that must not be mailed, and applications of partners. */
export const crm = `
  CREATE TABLE contacts (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- CON- and 12 hex characters
    name text NOT NULL,
    email text NOT NULL,          -- as it is written to
    email_key text NOT NULL,      -- the same for all spellings of one address
    phone text,
    company text,
    tags text[] NOT NULL DEFAULT '{}',
    source text,                  -- where it came from
    owner text,                   -- principal who looks after it
    consent text NOT NULL DEFAULT 'none' CHECK (consent IN ('none', 'opt_in', 'opt_out')),
    consent_at timestamptz,       -- null: nothing was ever said
    consent_basis text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, email_key)
  );
  CREATE INDEX contacts_newest ON contacts (tenant_id, created_at DESC, id);

  -- Addresses that must not be mailed. They outlast their contacts, and can't be read from their hashes.
  CREATE TABLE suppressions (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    hash bytea NOT NULL CHECK (length(hash) = 32), -- HMAC under the platform's secret
    reason text NOT NULL CHECK (reason IN ('opted_out', 'erased')),
    at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, hash)
  );

  CREATE TABLE deals (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- DEAL- and 12 hex characters
    title text NOT NULL,
    contact_id text,              -- null: it was erased
    pipeline text NOT NULL,
    stage text NOT NULL,
    status text NOT NULL CHECK (status IN ('open', 'won', 'lost')),
    amount_minor bigint NOT NULL CHECK (amount_minor >= 0),
    currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
    expected_close date,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL DEFAULT 1,
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, contact_id) REFERENCES contacts ON DELETE SET NULL (contact_id)
  );
  CREATE INDEX deals_newest ON deals (tenant_id, created_at DESC, id);
  CREATE INDEX deals_contact ON deals (tenant_id, contact_id);

  CREATE TABLE deal_stays (       -- stages that a deal has been in
    tenant_id text NOT NULL DEFAULT current_tenant(),
    deal_id text NOT NULL,
    number integer NOT NULL,      -- version of the deal with which the stay began
    pipeline text NOT NULL,
    stage text NOT NULL,
    entered_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    left_at timestamptz,          -- null: it is there now
    PRIMARY KEY (tenant_id, deal_id, number),
    FOREIGN KEY (tenant_id, deal_id) REFERENCES deals
  );

  CREATE TABLE crm_activities (   -- without personal text, which is read from what they are about
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- ACT- and 12 hex characters
    kind text NOT NULL,
    contact_id text,
    deal_id text,
    actor text NOT NULL,
    summary text NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    receipt_id text,
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX crm_activities_newest ON crm_activities (tenant_id, at DESC, id);
  CREATE INDEX crm_activities_contact ON crm_activities (tenant_id, contact_id, at DESC);
  CREATE INDEX crm_activities_deal ON crm_activities (tenant_id, deal_id, at DESC);

  CREATE TABLE partner_applications (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id integer GENERATED ALWAYS AS IDENTITY,
    name text NOT NULL,
    email text NOT NULL,
    company text NOT NULL,
    website text,
    message text NOT NULL,
    status text NOT NULL DEFAULT 'new' CHECK (status IN ('new', 'reviewing', 'approved', 'rejected')),
    consent_at timestamptz NOT NULL DEFAULT now(),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    version integer NOT NULL DEFAULT 1,
    receipt_id text NOT NULL,     -- of the newest move
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX partner_applications_newest ON partner_applications (tenant_id, status, id DESC);
  -- Deletes entries of a tenant's evidence, and the hashes of their requests, from which they could be guessed.
  CREATE FUNCTION delete_evidence(receipts text[], names text[]) RETURNS int LANGUAGE sql AS $$
    WITH deleted AS (
      DELETE FROM evidence e USING unnest(receipts, names) AS one (receipt_id, name)
      WHERE (e.receipt_id, e.name) = (one.receipt_id, one.name) RETURNING e.receipt_id
    ), forgotten AS (
      UPDATE seal_requests SET request_hash = ''
      WHERE id IN (SELECT receipt_id FROM deleted) AND request_hash <> ''
    )
    SELECT count(*)::int FROM deleted
  $$;

  SELECT wall_off(false, 'contacts', 'suppressions', 'deals', 'deal_stays', 'crm_activities', 'partner_applications');
`;
