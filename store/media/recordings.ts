import type { MediaState, Segment } from "../../contract/domain/mod.ts";
import type { Db, Row } from "../connection.ts";

/** Speech that was asked for. */
export interface AudioClip {
  readonly id: string;
  /** `speech`: one text as WAV; `post`: a post with chapters as MP3. */
  readonly kind: "speech" | "post";
  readonly title: string;
  readonly text: string;
  readonly voice: string;
  readonly state: MediaState;
  readonly sha256: string | null;
  readonly seconds: number | null;
  readonly sampleRate: number | null;
  readonly cues: readonly Segment[] | null;
  readonly receiptId: string | null;
}

/** A transcript that was asked for. */
export interface Transcript {
  readonly id: string;
  /** URL, or path below the inbox folder. */
  readonly source: string;
  readonly state: MediaState;
  readonly language: string;
  /** Null: not transcribed. The same holds for what follows. */
  readonly seconds: number | null;
  readonly words: number | null;
  readonly text: string | null;
  readonly vtt: string | null;
  readonly segments: readonly Segment[] | null;
  readonly receiptId: string | null;
  readonly createdAt: string;
}

/** A file that a tenant has. */
export interface MediaRecord {
  readonly sha256: string;
  readonly mediaType: string;
  readonly bytes: number;
  /** True: anybody may read it. */
  readonly isPublished: boolean;
}

/** Adds speech to make. */
export async function addAudioClip(
  trx: Db,
  clip: Pick<AudioClip, "id" | "kind" | "title" | "text" | "voice"> & {
    readonly requestedBy: string;
  },
): Promise<void> {
  const { id, kind, title, text, voice, requestedBy } = clip;
  await trx.execute(
    `INSERT INTO audio_clips (id, kind, title, text, voice, requested_by)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [id, kind, title, text, voice, requestedBy],
  );
}

/** Returns speech, or undefined. */
export async function getAudioClip(db: Db, id: string): Promise<AudioClip | undefined> {
  const row = await db.first("SELECT * FROM audio_clips WHERE id = $1", [id]);
  if (!row) return undefined;
  const { kind, title, text, voice, state, sha256, seconds, cues } = row;
  const [sampleRate, receiptId] = [row.sample_rate, row.receipt_id];
  return { id, kind, title, text, voice, state, sha256, seconds, sampleRate, cues, receiptId };
}

/** Ends speech with its file. @returns false: it has ended already */
export async function finishAudioClip(
  trx: Db,
  id: string,
  made: {
    readonly sha256: string;
    readonly seconds: number;
    readonly sampleRate: number;
    readonly cues: readonly Segment[];
    readonly receiptId: string;
  },
): Promise<boolean> {
  const { sha256, seconds, sampleRate, cues, receiptId } = made;
  const count = await trx.execute(
    `UPDATE audio_clips SET state = 'done', sha256 = $2, seconds = $3, sample_rate = $4, cues = $5,
       receipt_id = $6
     WHERE id = $1 AND state IN ('queued', 'running')`,
    [id, sha256, seconds, sampleRate, JSON.stringify(cues), receiptId],
  );
  return count > 0;
}

/** Adds a transcript to make. */
export async function addTranscript(
  trx: Db,
  { id, source, requestedBy }: Pick<Transcript, "id" | "source"> & { readonly requestedBy: string },
): Promise<void> {
  await trx.execute("INSERT INTO transcripts (id, source, requested_by) VALUES ($1, $2, $3)", [
    id,
    source,
    requestedBy,
  ]);
}

/** Returns a transcript, or undefined. */
export async function getTranscript(db: Db, id: string): Promise<Transcript | undefined> {
  const row = await db.first("SELECT * FROM transcripts WHERE id = $1", [id]);
  return row && toTranscript(row);
}

/** Returns the newest transcripts that are done, and the number of all of them. */
export async function listTranscripts(
  db: Db,
  limit: number,
): Promise<{ readonly total: number; readonly transcripts: readonly Transcript[] }> {
  const rows = await db.query(
    `SELECT *, count(*) OVER ()::int AS total FROM transcripts WHERE state = 'done'
     ORDER BY created_at DESC, id LIMIT $1`,
    [limit],
  );
  return { total: rows[0]?.total ?? 0, transcripts: rows.map(toTranscript) };
}

/** Ends a transcript with its text. @returns false: it has ended already */
export async function finishTranscript(
  trx: Db,
  id: string,
  made: {
    readonly seconds: number;
    readonly text: string;
    readonly vtt: string;
    readonly segments: readonly Segment[];
    readonly receiptId: string;
  },
): Promise<boolean> {
  const { seconds, text, vtt, segments, receiptId } = made;
  const words = text.split(/\s+/).filter(Boolean).length;
  const count = await trx.execute(
    `UPDATE transcripts SET state = 'done', seconds = $2, words = $3, text = $4, vtt = $5,
       segments = $6, receipt_id = $7
     WHERE id = $1 AND state IN ('queued', 'running')`,
    [id, seconds, words, text, vtt, JSON.stringify(segments), receiptId],
  );
  return count > 0;
}

function toTranscript(row: Row): Transcript {
  const { id, source, state, language, seconds, words, text, vtt, segments } = row;
  const [receiptId, createdAt] = [row.receipt_id, row.created_at.toISOString()];
  return {
    id,
    source,
    state,
    language,
    seconds,
    words,
    text,
    vtt,
    segments,
    receiptId,
    createdAt,
  };
}

/** Notes that a tenant has a file. @param file.text shown in a drawn card; other files have their texts elsewhere */
export async function addMediaFile(
  trx: Db,
  { sha256, mediaType, bytes, text }: Pick<MediaRecord, "sha256" | "mediaType" | "bytes"> & {
    readonly text?: string;
  },
): Promise<void> {
  await trx.execute(
    `INSERT INTO media_files (sha256, media_type, bytes, text) VALUES ($1, $2, $3, $4)
     ON CONFLICT DO NOTHING`,
    [sha256, mediaType, bytes, text ?? null],
  );
}

/** Returns a file of a tenant, or undefined. */
export async function getMediaFile(db: Db, sha256: string): Promise<MediaRecord | undefined> {
  const row = await db.first("SELECT * FROM media_files WHERE sha256 = $1", [sha256]);
  if (!row) return undefined;
  const { media_type, bytes, published_at } = row;
  return {
    sha256,
    mediaType: media_type,
    bytes: Number(bytes),
    isPublished: published_at !== null,
  };
}

/** Returns a published file, whichever tenant published it, or undefined. */
export async function findPublishedFile(
  db: Db,
  sha256: string,
): Promise<MediaRecord | undefined> {
  const row = await db.first("SELECT * FROM find_published_file($1)", [sha256]);
  if (!row) return undefined;
  return { sha256, mediaType: row.media_type, bytes: Number(row.bytes), isPublished: true };
}

/** Sums up the bytes of the files that a tenant has, but for cards of posts, which go by themselves. */
export async function sumMediaBytes(db: Db): Promise<number> {
  const row = await db.first(
    "SELECT coalesce(sum(bytes), 0) AS bytes FROM media_files WHERE text IS NULL",
  );
  return Number(row!.bytes);
}

/** Forgets cards of posts that were drawn long ago, but for pictures of films that are being made. */
export async function pruneCards(db: Db, days: number): Promise<void> {
  await db.execute(
    `DELETE FROM media_files f
     WHERE text IS NOT NULL AND created_at < now() - make_interval(days => $1) AND NOT EXISTS (
       SELECT FROM video_scenes s JOIN video_projects p ON p.id = s.project_id
       WHERE p.state IN ('queued', 'running') AND s.image = f.sha256)`,
    [days],
  );
}

/** Lists the hashes of the files that a tenant needs: those that it has, and the scenes of films that are being made. */
export async function listNeededFiles(db: Db): Promise<string[]> {
  const rows = await db.query<{ sha256: string }>(
    `SELECT sha256 FROM media_files
     UNION
     SELECT unnest(ARRAY[s.video_sha256, s.sound_sha256]) FROM video_scenes s
     JOIN video_projects p ON p.id = s.project_id
     WHERE p.state IN ('queued', 'running') AND s.video_sha256 IS NOT NULL`,
  );
  return rows.map(({ sha256 }) => sha256);
}

/** Lets anybody read a file of a tenant. */
export async function publishMediaFile(trx: Db, sha256: string): Promise<void> {
  await trx.execute(
    "UPDATE media_files SET published_at = coalesce(published_at, now()) WHERE sha256 = $1",
    [sha256],
  );
}
