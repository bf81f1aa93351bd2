import type { RunId } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** An act whose intent is sealed, or other work that was ordered, and that has no end yet. */
export interface OpenAct {
  /** Such as `peer`; `activities/act_kinds.ts` has how each is ended. */
  readonly kind: string;
  readonly id: string;
  /** Run that is to end it; undefined: its workflow's id is made from its own. */
  readonly run?: RunId;
  /** Further data to look for its end and to seal that; null: none. */
  // deno-lint-ignore no-explicit-any -- each kind has its own, which it has stored itself
  readonly act: any;
}

/** Notes that an act is intended. Must run in the transaction that requests the receipt of that. */
export async function openAct(
  trx: Db,
  { kind, id, run, act }: Required<OpenAct>,
): Promise<void> {
  await trx.execute(
    `INSERT INTO open_acts (kind, id, workflow_id, run_id, act) VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (tenant_id, kind, id) DO NOTHING`,
    [kind, id, run.workflow_id, run.run_id, JSON.stringify(act)],
  );
}

/** Notes that an act has ended. Must run in the transaction that requests the receipt of that. */
export async function closeAct(trx: Db, kind: string, id: string): Promise<void> {
  await trx.execute("DELETE FROM open_acts WHERE kind = $1 AND id = $2", [kind, id]);
}

/**
 * Lists what a tenant has open, oldest first. What was stored within five minutes is left out where its workflow may be about
 * to start.
 */
export async function listOpenActs(db: Db): Promise<OpenAct[]> {
  const rows = await db.query(
    `SELECT kind, id, workflow_id, run_id, act, intended_at AS at FROM open_acts
     UNION ALL
     SELECT 'act', ids ->> 'act_id', NULL, NULL, to_jsonb(decision_id), at FROM call_effects
       WHERE ids ? 'act_id' AND NOT act_ended
     UNION ALL
     SELECT 'ticket', id, workflow_id, run_id, NULL, opened_at FROM tickets
       WHERE status = 'open' AND NOT escalated AND run_id IS NOT NULL
     UNION ALL
     SELECT 'approval', id, NULL, NULL, NULL, asked_at FROM approvals WHERE status = 'pending'
     UNION ALL
     SELECT 'site', 'site', NULL, NULL, NULL, min(created_at) FROM articles
       WHERE state = 'erased' AND deploy IS NOT NULL HAVING count(*) > 0
     UNION ALL
     SELECT kind, id, NULL, NULL, act, at FROM (
       SELECT 'mail' AS kind, id, NULL::jsonb AS act, created_at AS at FROM emails
         WHERE state IN ('held', 'queued', 'sending')
       UNION ALL
       SELECT 'command', id, NULL, created_at FROM device_commands
         WHERE status IN ('waiting_approval', 'queued', 'sealed', 'delivered', 'begun')
       UNION ALL
       SELECT 'article', id, NULL, created_at FROM articles WHERE state IN ('writing', 'review', 'approved')
       UNION ALL
       SELECT 'deploy', id, deploy, created_at FROM articles
         WHERE state NOT IN ('writing', 'review', 'approved', 'erased') AND deploy ->> 'state' = 'intended'
       UNION ALL
       SELECT 'item', id, NULL, changed_at FROM pipeline_items
         WHERE stage = 'review' OR publishing ->> 'state' = 'intended'
       UNION ALL
       SELECT 'video', id, to_jsonb(requested_by), created_at FROM video_projects
         WHERE state IN ('queued', 'running')
       UNION ALL
       SELECT 'speech', id, to_jsonb(requested_by), created_at FROM audio_clips
         WHERE state IN ('queued', 'running')
       UNION ALL
       SELECT 'transcription', id, to_jsonb(requested_by), created_at FROM transcripts
         WHERE state IN ('queued', 'running')
     ) AS stored WHERE at < now() - interval '5 minutes'
     ORDER BY at`,
  );
  return rows.map(({ kind, id, workflow_id, run_id, act }) => ({
    kind,
    id,
    ...(workflow_id === null ? {} : { run: { workflow_id, run_id } }),
    act,
  }));
}
