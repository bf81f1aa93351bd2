import type { ArticleSource, PipelineStage, PUBLISHING_STATES } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";
import { getAudioClip, getVideoProject } from "../media/mod.ts";

/** Kinds of what goes through the pipeline. */
export const PIPELINE_KINDS = ["article", "post", "note", "film", "speech"] as const;

/** A film or speech that is to be published. */
export interface MediaSource {
  readonly kind: "film" | "speech";
  readonly id: string;
}

/** Returns whether a source is a film or speech. */
export function isMediaSource(source: ArticleSource | MediaSource | null): source is MediaSource {
  return source?.kind === "film" || source?.kind === "speech";
}

/** A film or speech as it can be published. */
export interface MadeMedia {
  readonly state: string;
  /** Receipt that was sealed when it was made, which it names in its manifest; null: it is not made. */
  readonly receiptId: string | null;
  /** Hashes of its files, by what they are, such as `mp4`; null: it is not made. */
  readonly files: Readonly<Record<string, string>> | null;
}

/** Returns the film or speech of an item, or undefined. */
export async function getMadeMedia(
  db: Db,
  { kind, id }: MediaSource,
): Promise<MadeMedia | undefined> {
  if (kind === "film") {
    const film = await getVideoProject(db, id);
    return film && { ...film, files: film.artifacts && { ...film.artifacts } };
  }
  const clip = await getAudioClip(db, id);
  return clip && { ...clip, files: clip.sha256 === null ? null : { audio: clip.sha256 } };
}

/** Publishing of an item that people have approved. */
export interface Publishing {
  /** `people`: the platform does not publish it. */
  readonly by: "platform" | "people";
  /** Null: nobody but people know. */
  readonly state: typeof PUBLISHING_STATES[number] | null;
  /** `published`, or why not: `denied`, `file_gone`, `timeout`, `not_configured`, … */
  readonly code: string;
  /** Address of a published post. */
  readonly url: string | null;
}

/** An item of the pipeline. */
export interface PipelineItem {
  /** `ITEM-` and 12 hex characters. */
  readonly item_id: string;
  readonly kind: typeof PIPELINE_KINDS[number];
  readonly title: string;
  readonly text: string | null;
  /** Source of the article that is to be written, or the work that is published. */
  readonly source: ArticleSource | MediaSource | null;
  /** Network that a post is for. */
  readonly platform: string | null;
  /** Stage of the item; where it has an article, that of the article. */
  readonly stage: PipelineStage;
  readonly article_id: string | null;
  readonly approval_id: string | null;
  /** Null: people have not decided yet, or it has an article. */
  readonly publishing: Publishing | null;
  /** The newest. */
  readonly receipt_id: string;
  /** Principal. */
  readonly created_by: string;
  readonly created_by_key: string | null;
  readonly created_at: string;
}

/** An item to add. */
export type NewPipelineItem =
  & Pick<
    PipelineItem,
    | "kind"
    | "title"
    | "text"
    | "source"
    | "platform"
    | "stage"
    | "receipt_id"
    | "created_by"
    | "created_by_key"
  >
  & { readonly id: string };

/** Adds an item. */
export async function addPipelineItem(trx: Db, item: NewPipelineItem): Promise<void> {
  const { id, kind, title, text, source, platform, stage, receipt_id } = item;
  await trx.execute(
    `INSERT INTO pipeline_items (id, kind, title, text, source, platform, stage, receipt_id, created_by, created_by_key)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
    [
      id,
      kind,
      title,
      text,
      source && JSON.stringify(source),
      platform,
      stage,
      receipt_id,
      item.created_by,
      item.created_by_key,
    ],
  );
}

/** Returns an item, or undefined. */
export async function getPipelineItem(db: Db, id: string): Promise<PipelineItem | undefined> {
  const row = await db.first(`${ITEMS} WHERE i.id = $1`, [id]);
  return row && toItem(row);
}

/** Returns an item and locks it until the transaction ends, or undefined. */
export async function lockPipelineItem(trx: Db, id: string): Promise<PipelineItem | undefined> {
  const row = await trx.first(`${ITEMS} WHERE i.id = $1 FOR UPDATE OF i`, [id]);
  return row && toItem(row);
}

/** A move of an item; what is absent stays. */
export interface PipelineMove {
  readonly stage: PipelineStage;
  readonly articleId?: string | null;
  readonly publishing?: Publishing;
  readonly receiptId?: string;
}

/** Moves an item. @returns false where it is not in one of these stages any more */
export async function movePipelineItem(
  trx: Db,
  id: string,
  from: readonly PipelineStage[],
  { stage, articleId, publishing, receiptId }: PipelineMove,
): Promise<boolean> {
  const moved = await trx.execute(
    `UPDATE pipeline_items SET stage = $3, article_id = coalesce($4, article_id),
       publishing = coalesce($5, publishing), receipt_id = coalesce($6, receipt_id),
       changed_at = clock_timestamp()
     WHERE id = $1 AND stage = ANY($2)`,
    [id, from, stage, articleId, publishing && JSON.stringify(publishing), receiptId],
  );
  return moved > 0;
}

/** Notes the approval that an item waits for. */
export async function setItemApproval(trx: Db, id: string, approvalId: string): Promise<void> {
  await trx.execute("UPDATE pipeline_items SET approval_id = $2 WHERE id = $1", [id, approvalId]);
}

/** Notes the address of a published post. */
export async function setItemUrl(db: Db, id: string, url: string): Promise<void> {
  await db.execute(
    "UPDATE pipeline_items SET publishing = publishing || jsonb_build_object('url', $2::text) WHERE id = $1",
    [id, url],
  );
}

/**
 * Keeps others of the tenant from beginning a post until the transaction ends.
 *
 * @returns whether another post of the same text, but for blanks, is under way, or may have been published within an hour
 */
export async function lockPostText(trx: Db, id: string): Promise<boolean> {
  await trx.query("SELECT pg_advisory_xact_lock(1886352244, hashtext(current_tenant()))");
  const other = await trx.first(
    `SELECT FROM pipeline_items own JOIN pipeline_items other
       ON regexp_replace(other.text, '\\s+', '', 'g') = regexp_replace(own.text, '\\s+', '', 'g')
     WHERE own.id = $1 AND other.id <> own.id AND other.publishing ->> 'by' = 'platform'
       AND (other.publishing ->> 'state' = 'intended' OR other.publishing ->> 'state' IN ('done', 'unknown')
         AND other.changed_at > now() - interval '1 hour')`,
    [id],
  );
  return other !== undefined;
}

/** Returns items, newest first, and the number of all. */
export async function listPipelineItems(
  db: Db,
  { stage, limit }: { readonly stage?: PipelineStage | undefined; readonly limit: number },
): Promise<{ readonly total: number; readonly items: PipelineItem[] }> {
  const rows = await db.query(
    `SELECT *, count(*) OVER ()::int AS total FROM (${ITEMS}) AS items WHERE $1::text IS NULL OR stage = $1
     ORDER BY created_at DESC, id DESC LIMIT $2`,
    [stage, limit],
  );
  return { total: rows[0]?.total ?? 0, items: rows.map(toItem) };
}

/** Counts items by their stage. */
export async function countPipelineItems(db: Db): Promise<Readonly<Record<string, number>>> {
  const rows = await db.query<{ stage: string; n: number }>(
    `SELECT stage, count(*)::int AS n FROM (${ITEMS}) AS items GROUP BY 1`,
  );
  return Object.fromEntries(rows.map(({ stage, n }) => [stage, n]));
}

const ITEMS =
  `SELECT i.id, i.kind, i.title, i.text, i.source, i.platform, i.article_id, i.publishing, i.created_by,
  i.created_by_key, i.created_at,
  coalesce(a.approval_id, i.approval_id) AS approval_id,
  coalesce(a.receipt_id, i.receipt_id) AS receipt_id,
  CASE WHEN a.id IS NULL THEN i.stage ELSE
    CASE a.state WHEN 'writing' THEN 'draft' WHEN 'review' THEN 'review' WHEN 'published' THEN 'published'
      WHEN 'denied' THEN 'rejected' WHEN 'refused' THEN 'rejected' WHEN 'erased' THEN 'rejected' ELSE 'approved' END END AS stage
  FROM pipeline_items i LEFT JOIN articles a ON a.id = i.article_id`;

function toItem(row: Row): PipelineItem {
  return {
    item_id: row.id,
    kind: row.kind,
    title: row.title,
    text: row.text,
    source: row.source,
    platform: row.platform,
    stage: row.stage,
    article_id: row.article_id,
    approval_id: row.approval_id,
    publishing: row.publishing,
    receipt_id: row.receipt_id,
    created_by: row.created_by,
    created_by_key: row.created_by_key,
    created_at: row.created_at.toISOString(),
  };
}
