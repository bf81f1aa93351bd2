import type {
  FilmArtifacts,
  IncidentPicture,
  MediaState,
  Segment,
} from "../../contract/domain/mod.ts";
import type { FilmFields, FilmSummary } from "../../contract/records/mod.ts";
import type { Db, Row } from "../connection.ts";

/** A film that was asked for. */
export interface VideoProject extends FilmFields, FilmSummary {
  readonly id: string;
  readonly state: MediaState;
  readonly failure: string | null;
  readonly seconds: number | null;
  readonly artifacts: FilmArtifacts | null;
  readonly unsignedSha256: string | null;
  readonly receiptId: string | null;
  readonly createdAt: string;
}

/** A film to make. */
export interface NewVideoProject extends FilmFields, Pick<VideoProject, "id" | "kind"> {
  readonly requestedBy: string;
  readonly scenes: readonly NewScene[];
}

/** A scene to make. */
interface NewScene {
  readonly heading: string;
  readonly text: string;
  /** Hash of a file, or a path below the inbox folder. */
  readonly image?: string | undefined;
  /** Speech that is there already. */
  readonly audioId?: string | undefined;
  /** Content of its picture in place of the words. */
  readonly incident?: IncidentPicture | undefined;
}

/** A scene, and what was made of it. */
export interface VideoScene {
  /** From 1. */
  readonly n: number;
  readonly heading: string;
  readonly text: string;
  readonly image: string | null;
  readonly audioId: string | null;
  readonly incident: IncidentPicture | null;
  /** Times that it was begun. */
  readonly attempts: number;
  /** Null: not made yet. */
  readonly made: MadeScene | null;
}

/** Files of a scene. */
export interface MadeScene {
  readonly videoSha256: string;
  readonly soundSha256: string;
  readonly seconds: number;
  readonly cues: readonly Segment[];
}

/** First half of the advisory locks of tenants' queues. */
const QUEUE_LOCK = 1_835_361_641;

/** Locks the queue of the tenant until the transaction ends. */
export async function lockMediaQueue(trx: Db): Promise<void> {
  await trx.query("SELECT pg_advisory_xact_lock($1, hashtext(current_tenant()))", [QUEUE_LOCK]);
}

/** Counts a tenant's requests for media that wait or run. */
export async function countOpenMedia(db: Db): Promise<number> {
  const row = await db.first<{ count: number }>(
    `SELECT sum(count)::int AS count FROM (
       SELECT count(*) FROM video_projects WHERE state IN ('queued', 'running')
       UNION ALL
       SELECT count(*) FROM audio_clips WHERE state IN ('queued', 'running')
       UNION ALL
       SELECT count(*) FROM transcripts WHERE state IN ('queued', 'running')
     ) open`,
  );
  return row!.count;
}

/** Adds a film with its scenes. */
export async function addVideoProject(trx: Db, project: NewVideoProject): Promise<void> {
  const { id, kind, title, format, captions, requestedBy, scenes } = project;
  await trx.execute(
    `INSERT INTO video_projects (id, kind, title, format, captions, requested_by)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, kind, title, format, captions, requestedBy],
  );
  for (const [index, { heading, text, image, audioId, incident }] of scenes.entries()) {
    await trx.execute(
      `INSERT INTO video_scenes (project_id, n, heading, text, image, audio_id, incident)
       VALUES ($1, $2, $3, $4, $5, $6, $7)`,
      [
        id,
        index + 1,
        heading,
        text,
        image ?? null,
        audioId ?? null,
        incident ? JSON.stringify(incident) : null,
      ],
    );
  }
}

/** Returns a film, or undefined. */
export async function getVideoProject(db: Db, id: string): Promise<VideoProject | undefined> {
  const row = await db.first("SELECT * FROM video_projects WHERE id = $1", [id]);
  return row && toProject(row);
}

/** Counts films by their state. */
export async function countVideoProjects(db: Db): Promise<Readonly<Record<string, number>>> {
  const rows = await db.query<{ state: string; n: number }>(
    "SELECT state, count(*)::int AS n FROM video_projects GROUP BY 1 ORDER BY 1",
  );
  return Object.fromEntries(rows.map(({ state, n }) => [state, n]));
}

/** Returns the newest films and the number of all. */
export async function listVideoProjects(
  db: Db,
  limit: number,
): Promise<{ readonly total: number; readonly projects: readonly VideoProject[] }> {
  const rows = await db.query(
    `SELECT *, count(*) OVER ()::int AS total FROM video_projects
     ORDER BY created_at DESC, id LIMIT $1`,
    [limit],
  );
  return { total: rows[0]?.total ?? 0, projects: rows.map(toProject) };
}

/** Returns the scenes of a film, in order. */
export async function listScenes(db: Db, projectId: string): Promise<readonly VideoScene[]> {
  const rows = await db.query("SELECT * FROM video_scenes WHERE project_id = $1 ORDER BY n", [
    projectId,
  ]);
  return rows.map(toScene);
}

/** Notes that a scene is begun once more, and its film with it. */
export async function beginScene(trx: Db, projectId: string, n: number): Promise<void> {
  await trx.execute(
    "UPDATE video_scenes SET attempts = attempts + 1 WHERE project_id = $1 AND n = $2",
    [projectId, n],
  );
  await trx.execute(
    "UPDATE video_projects SET state = 'running' WHERE id = $1 AND state = 'queued'",
    [projectId],
  );
}

/** Keeps what was made of a scene. */
export async function finishScene(
  db: Db,
  projectId: string,
  n: number,
  { videoSha256, soundSha256, seconds, cues }: MadeScene,
): Promise<void> {
  await db.execute(
    `UPDATE video_scenes SET video_sha256 = $3, sound_sha256 = $4, seconds = $5, cues = $6
     WHERE project_id = $1 AND n = $2`,
    [projectId, n, videoSha256, soundSha256, seconds, JSON.stringify(cues)],
  );
}

/** Ends a film with its files. @returns false: it has ended already */
export async function finishVideo(
  trx: Db,
  id: string,
  film: {
    readonly seconds: number;
    readonly artifacts: FilmArtifacts;
    readonly unsignedSha256: string;
    readonly receiptId: string;
  },
): Promise<boolean> {
  const { seconds, artifacts, unsignedSha256, receiptId } = film;
  const count = await trx.execute(
    `UPDATE video_projects SET state = 'done', seconds = $2, artifacts = $3, unsigned_sha256 = $4,
       receipt_id = $5, ended_at = clock_timestamp()
     WHERE id = $1 AND state IN ('queued', 'running')`,
    [id, seconds, JSON.stringify(artifacts), unsignedSha256, receiptId],
  );
  return count > 0;
}

/**
 * Ends a request for media without a result. It may be of any kind, as their ids differ.
 *
 * @returns false: it has ended already
 */
export async function failMedia(trx: Db, id: string, failure: string): Promise<boolean> {
  const ended = [
    await trx.execute(
      `UPDATE video_projects SET state = 'failed', failure = $2, ended_at = clock_timestamp()
       WHERE id = $1 AND state IN ('queued', 'running')`,
      [id, failure],
    ),
    await trx.execute(
      `UPDATE audio_clips SET state = 'failed', failure = $2
       WHERE id = $1 AND state IN ('queued', 'running')`,
      [id, failure],
    ),
    await trx.execute(
      `UPDATE transcripts SET state = 'failed', failure = $2
       WHERE id = $1 AND state IN ('queued', 'running')`,
      [id, failure],
    ),
  ];
  return ended.some((count) => count > 0);
}

function toProject(row: Row): VideoProject {
  return {
    id: row.id,
    kind: row.kind,
    title: row.title,
    format: row.format,
    captions: row.captions,
    state: row.state,
    failure: row.failure,
    seconds: row.seconds,
    artifacts: row.artifacts,
    unsignedSha256: row.unsigned_sha256,
    receiptId: row.receipt_id,
    createdAt: row.created_at.toISOString(),
  };
}

function toScene(row: Row): VideoScene {
  const { n, heading, text, image, attempts, seconds, cues } = row;
  const made = row.video_sha256 === null ? null : {
    videoSha256: row.video_sha256,
    soundSha256: row.sound_sha256,
    seconds,
    cues,
  };
  return { n, heading, text, image, audioId: row.audio_id, incident: row.incident, attempts, made };
}
