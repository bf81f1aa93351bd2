/** The roles of the platform. Where the current user may not create roles, an operator has created them before. */
export const roles = `
  DO $$
  DECLARE
    role text;
  BEGIN
    FOREACH role IN ARRAY ARRAY['sealoop_owner', 'sealoop_app', 'sealoop_sequencer', 'sealoop_ledger',
      'sealoop_crossing', 'sealoop_ledger_writer'] LOOP
      IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = role) THEN
        EXECUTE format('CREATE ROLE %I NOLOGIN', role);
      END IF;
      IF NOT pg_has_role(current_user, role, 'MEMBER')
        AND (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user) THEN
        EXECUTE format('GRANT %I TO CURRENT_USER', role);
      END IF;
    END LOOP;
  END $$;
`;
