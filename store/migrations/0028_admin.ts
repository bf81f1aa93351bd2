/** The health of integrations, and flags. */
export const admin = `
  CREATE TABLE integration_health (
    integration text PRIMARY KEY,
    last_ok_at timestamptz,       -- null: it never worked
    last_error text,              -- for everybody to read; null: it never failed
    last_error_at timestamptz
  );

  CREATE TABLE flags (            -- those that were ever set
    key text PRIMARY KEY,
    value boolean NOT NULL,
    revision integer NOT NULL,    -- number of the change, over all flags
    updated_by text NOT NULL,     -- key id
    receipt_id text NOT NULL,
    updated_at timestamptz NOT NULL DEFAULT now()
  );
`;
