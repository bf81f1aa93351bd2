/** On how many servers what is committed is. */
export const replication = `
  -- Returns the standbys that receive what is committed, and how many of them have it on disk before a commit returns.
  -- Null: the role that owns the function may not see them.
  CREATE FUNCTION count_standbys(OUT streaming integer, OUT synchronous integer)
  LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog AS $$
    SELECT CASE WHEN bool_or(state IS NULL) THEN NULL ELSE count(*) FILTER (WHERE state = 'streaming') END::integer,
      CASE
        WHEN bool_or(state IS NULL) THEN NULL
        WHEN current_setting('synchronous_commit') NOT IN ('on', 'remote_apply') THEN 0
        ELSE least(
          count(*) FILTER (WHERE state = 'streaming' AND sync_state IN ('sync', 'quorum')),
          -- Of a quorum, ANY 2 (a, b, c), all are listed as such, and two have it.
          substring(current_setting('synchronous_standby_names') FROM '(?i)^\\s*any\\s+([0-9]+)')::integer)
      END::integer
    FROM pg_stat_replication
  $$;
`;
