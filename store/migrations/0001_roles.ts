import { FUNCTION_OWNERS, ROLES } from "../roles.ts";

const NAMES = [...Object.values(ROLES), ...Object.values(FUNCTION_OWNERS)];

/** Checks that an administrator has created the roles, as the owner of the schema may not. */
export const roles = `
  DO $$
  DECLARE
    missing text;
  BEGIN
    SELECT string_agg(name, ', ') INTO missing FROM unnest(ARRAY['${NAMES.join("', '")}']) AS name
      WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = name);
    IF missing IS NOT NULL THEN
      RAISE EXCEPTION 'There is no role %: npm run database -- roles prints the statements that create them', missing;
    END IF;
  END $$;
`;
