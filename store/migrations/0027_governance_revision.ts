import type { Knex } from "knex";

/**
 * What is in force has a revision, so that a call need not show all of it to be held against it; and what calls that are
 * alike are let in by is part of their statement, so that the function is only asked where that can't say yes.
 */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    -- Of the policy and all switches; another one with each change, and never one that was before, as after a backup.
    CREATE TABLE governance_revision (
      one boolean PRIMARY KEY DEFAULT true CHECK (one),
      revision uuid NOT NULL
    );
    CREATE FUNCTION governance_changed() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
    BEGIN
      INSERT INTO governance_revision (revision) VALUES (gen_random_uuid())
        ON CONFLICT (one) DO UPDATE SET revision = excluded.revision;
      RETURN NULL;
    END $$;
    CREATE TRIGGER governance_policies_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE
      ON governance_policies EXECUTE FUNCTION governance_changed();
    CREATE TRIGGER governance_stops_changed AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE
      ON governance_stops EXECUTE FUNCTION governance_changed();
    INSERT INTO governance_revision (revision) VALUES (gen_random_uuid());
    GRANT SELECT ON governance_revision TO sealoop_app;

    CREATE OR REPLACE FUNCTION governance_in_force() RETURNS jsonb STABLE LANGUAGE plpgsql AS $$
    BEGIN
      RETURN jsonb_build_object(
        'revision', (SELECT revision FROM governance_revision),
        'version', coalesce((SELECT max(version) FROM governance_policies), 0),
        'stops', coalesce((
          SELECT jsonb_agg(jsonb_build_object('kind', kind, 'name', name, 'reason', reason) ORDER BY kind, name)
          FROM governance_stops
        ), '[]')
      );
    END $$;

    DROP FUNCTION let_in, let_in_one, let_in_same;

    -- What let_in says of as many calls as are the same.
    CREATE FUNCTION let_in_same(
      call jsonb, in_force jsonb, many int, OUT holds boolean[], OUT told jsonb[]
    ) LANGUAGE plpgsql AS $$
    DECLARE
      use jsonb := nullif(call->'use', 'null');
      before bigint;
      taken bigint;
    BEGIN
      -- servers of the version before, which may still run, send all that is in force
      IF coalesce(call->'revision' <> in_force->'revision', false)
        OR coalesce((call->'in_force') - 'revision' <> in_force - 'revision', false) THEN
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

    -- Each of calls is {revision?, use: {subject, kind, start, limit} | null}, or null: it is let in.
    -- Not counted, and told what is in force now, is a call that was decided by another revision.
    CREATE FUNCTION let_in(calls jsonb, OUT holds boolean[], OUT told jsonb[]) LANGUAGE plpgsql AS $$
    DECLARE
      in_force jsonb := governance_in_force();
      same record;
      found record;
    BEGIN
      FOR same IN
        SELECT c.call, array_agg(c.nr::int ORDER BY c.nr) AS nrs
        FROM jsonb_array_elements(calls) WITH ORDINALITY AS c (call, nr)
        GROUP BY c.call
        -- one order for all, so that no two statements wait for each other
        ORDER BY c.call->'use'->>'subject', c.call->'use'->>'kind', c.call->'use'->>'start', c.call
      LOOP
        found := let_in_same(same.call, in_force, cardinality(same.nrs));
        FOR n IN 1..cardinality(same.nrs) LOOP
          holds[same.nrs[n]] := found.holds[n];
          told[same.nrs[n]] := found.told[n];
        END LOOP;
      END LOOP;
    END $$;
  `);
}
