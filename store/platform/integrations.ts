/** Newest results of probes of integrations. */
import type { IntegrationName, IntegrationView } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** When an integration worked last, and why it did not. */
export interface IntegrationHealth {
  readonly integration: IntegrationName;
  /** Null: never. */
  readonly lastOkAt: Date | null;
  /** Null: it never failed. */
  readonly lastError: string | null;
  readonly lastErrorAt: Date | null;
}

/** Notes what a probe found: the last time that it worked, or that it failed. */
export async function recordIntegrationHealth(
  db: Db,
  { integration, status, detail }: Pick<IntegrationView, "integration" | "status" | "detail">,
): Promise<void> {
  if (status === "not_configured") return;
  const error = status === "down" ? detail : null;
  await db.execute(
    `INSERT INTO integration_health AS h (integration, last_ok_at, last_error, last_error_at)
     VALUES ($1, CASE WHEN $2::text IS NULL THEN now() END, $2, CASE WHEN $2::text IS NOT NULL THEN now() END)
     ON CONFLICT (integration) DO UPDATE SET
       last_ok_at = coalesce(excluded.last_ok_at, h.last_ok_at),
       last_error = coalesce(excluded.last_error, h.last_error),
       last_error_at = coalesce(excluded.last_error_at, h.last_error_at)`,
    [integration, error],
  );
}

/** Lists what probes found last, of those integrations that were probed. */
export async function listIntegrationHealth(db: Db): Promise<IntegrationHealth[]> {
  return await db.query<IntegrationHealth>(
    `SELECT integration, last_ok_at AS "lastOkAt", last_error AS "lastError", last_error_at AS "lastErrorAt"
     FROM integration_health ORDER BY integration`,
  );
}

/** Counts of the passages that a tenant finds: shared articles, and its own past incidents. */
export async function countPassages(
  db: Db,
): Promise<{ readonly articles: number; readonly incidents: number }> {
  const row = await db.first<{ articles: number; incidents: number }>(
    `SELECT count(*) FILTER (WHERE kind = 'article')::int AS articles,
       count(*) FILTER (WHERE kind = 'incident')::int AS incidents
     FROM knowledge WHERE current`,
  );
  return row!;
}
