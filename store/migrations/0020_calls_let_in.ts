import type { Knex } from "knex";

/** Calls are let in as their decisions are written down: counted, and only under what they were decided by. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    -- What calls are decided by: the policy's version, and all switches.
    CREATE FUNCTION governance_in_force() RETURNS jsonb STABLE LANGUAGE sql AS $$
      SELECT jsonb_build_object(
        'version', coalesce((SELECT max(version) FROM governance_policies), 0),
        'stops', coalesce((
          SELECT jsonb_agg(jsonb_build_object('kind', kind, 'name', name, 'reason', reason) ORDER BY kind, name)
          FROM governance_stops
        ), '[]')
      )
    $$;

    -- Each of calls is {in_force, use: {subject, kind, start, limit} | null}, or null: it is let in.
    -- Not counted, and told what is in force now, is a call that was decided by anything else.
    CREATE FUNCTION let_in(calls jsonb) RETURNS TABLE (nr int, holds boolean, told jsonb) LANGUAGE plpgsql AS $$
    DECLARE
      in_force jsonb := governance_in_force();
      call record;
      taken bigint;
    BEGIN
      FOR call IN
        SELECT c.nr::int, c.value->'in_force' AS decided_by, c.value->'use' AS use
        FROM jsonb_array_elements(calls) WITH ORDINALITY AS c (value, nr)
        -- one order for all, so that no two statements wait for each other
        ORDER BY c.value->'use'->>'subject', c.value->'use'->>'kind', c.value->'use'->>'start', c.nr
      LOOP
        nr := call.nr;
        holds := true;
        told := NULL;
        IF call.decided_by <> in_force THEN
          holds := false;
          told := jsonb_build_object('in_force', in_force);
        ELSIF jsonb_typeof(call.use) = 'object' THEN
          taken := NULL;
          IF (call.use->'limit')::bigint > 0 THEN
            INSERT INTO usage AS u
              VALUES (call.use->>'subject', call.use->>'kind', (call.use->>'start')::timestamptz, 1)
              ON CONFLICT (subject, kind, period_start)
              DO UPDATE SET used = u.used + 1 WHERE u.used < (call.use->'limit')::bigint
              RETURNING u.used INTO taken;
          END IF;
          holds := taken IS NOT NULL;
          told := jsonb_build_object('used', taken);
        END IF;
        RETURN NEXT;
      END LOOP;
    END $$;
  `);
}
