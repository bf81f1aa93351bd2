/** The health of integrations. */
export const admin = `
  CREATE TABLE integration_health (
    integration text PRIMARY KEY,
    last_ok_at timestamptz,       -- null: it never worked
    last_error text,              -- for everybody to read; null: it never failed
    last_error_at timestamptz
  );
`;
