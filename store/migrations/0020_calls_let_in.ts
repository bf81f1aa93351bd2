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

    -- Takes uses of a limit, {subject, kind, start, limit}, all that are wanted or none.
    -- Gives how many its period has with them, or null.
    CREATE FUNCTION take_uses(use jsonb, wanted int) RETURNS bigint LANGUAGE plpgsql AS $$
    DECLARE
      most bigint := use->'limit';
      taken bigint;
    BEGIN
      IF wanted <= most THEN
        INSERT INTO usage AS u
          VALUES (use->>'subject', use->>'kind', (use->>'start')::timestamptz, wanted)
          ON CONFLICT (subject, kind, period_start)
          DO UPDATE SET used = u.used + wanted WHERE u.used + wanted <= most
          RETURNING u.used INTO taken;
      END IF;
      RETURN taken;
    END $$;

    -- What let_in says of as many calls as are the same.
    CREATE FUNCTION let_in_same(
      call jsonb, in_force jsonb, many int, OUT holds boolean[], OUT told jsonb[]
    ) LANGUAGE plpgsql AS $$
    DECLARE
      use jsonb := nullif(call->'use', 'null');
      before bigint;
      taken bigint;
    BEGIN
      IF call->'in_force' <> in_force THEN
        holds := array_fill(false, ARRAY[many]);
        told := array_fill(jsonb_build_object('in_force', in_force), ARRAY[many]);
      ELSIF use IS NULL THEN
        holds := array_fill(true, ARRAY[many]);
        told := array_fill(NULL::jsonb, ARRAY[many]);
      ELSE
        before := take_uses(use, many) - many;
        FOR n IN 1..many LOOP
          -- where not all of them fit, as many as do
          taken := CASE WHEN before IS NULL THEN take_uses(use, 1) ELSE before + n END;
          holds[n] := taken IS NOT NULL;
          told[n] := jsonb_build_object('used', taken);
        END LOOP;
      END IF;
    END $$;

    -- Each of calls is {in_force, use: {subject, kind, start, limit} | null}, or null: it is let in.
    -- Not counted, and told what is in force now, is a call that was decided by anything else.
    CREATE FUNCTION let_in(calls jsonb, OUT holds boolean[], OUT told jsonb[]) LANGUAGE plpgsql AS $$
    DECLARE
      in_force jsonb := governance_in_force();
      same record;
      found record;
    BEGIN
      IF jsonb_array_length(calls) = 1 THEN
        SELECT * INTO holds, told FROM let_in_same(calls->0, in_force, 1);
        RETURN;
      END IF;
      FOR same IN
        SELECT c.call, array_agg(c.nr::int ORDER BY c.nr) AS nrs
        FROM jsonb_array_elements(calls) WITH ORDINALITY AS c (call, nr)
        GROUP BY c.call
        -- one order for all, so that no two statements wait for each other
        ORDER BY c.call->'use'->>'subject', c.call->'use'->>'kind', c.call->'use'->>'start', c.call
      LOOP
        SELECT * INTO found FROM let_in_same(same.call, in_force, cardinality(same.nrs));
        FOR n IN 1..cardinality(same.nrs) LOOP
          holds[same.nrs[n]] := found.holds[n];
          told[same.nrs[n]] := found.told[n];
        END LOOP;
      END LOOP;
    END $$;
  `);
}
