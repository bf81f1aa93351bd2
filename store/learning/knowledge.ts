import { createHash } from "node:crypto";
import { DRILL_SERVICE_PATTERN } from "../../contract/domain/mod.ts";
import type { Db } from "../connection.ts";

/** A passage to add to the knowledge base. */
export interface NewPassage {
  readonly id: string;
  readonly kind: "article" | "incident";
  readonly category: string;
  readonly title: string;
  /** The text that is cited. */
  readonly content: string;
  /** SHA-256 of the content, 64 hex characters. */
  readonly sha256: string;
  /** Fingerprint of an incident's fault; null: none. */
  readonly fault: string | null;
  /** Words that it is found by, and their weights, > 0. */
  readonly terms: Readonly<Record<string, number>>;
  /** Hash of the terms. */
  readonly indexed: string;
}

/** A change of the stored articles, by their ids. */
export interface KnowledgeChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly withdrawn: readonly string[];
  /** SHA-256 of the ids and hashes of all articles before; null: there were none. */
  readonly before: string | null;
  /** The same, after. */
  readonly after: string;
}

/** Key of the advisory lock under which passages are stored; any number that nobody else of this database uses. */
const LOCK = 7_365_616_108;

/**
 * Makes the stored articles exactly these. Cited texts stay: a changed article becomes a new version, and a withdrawn one
 * is only not found any more. Must run in a transaction.
 *
 * @returns the change; undefined: texts and ids are the same
 */
export async function storeArticles(
  trx: Db,
  articles: readonly NewPassage[],
): Promise<KnowledgeChange | undefined> {
  await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  const stored = await trx.query<StoredArticle>(
    "SELECT id, sha256, indexed, category FROM knowledge WHERE current AND kind = 'article'",
  );
  const { change, stale } = compareArticles(stored, articles);
  const gone = [...change.changed, ...change.withdrawn];
  const fresh = [...change.changed, ...change.added];
  await unindexPassages(trx, [...gone, ...stale]);
  await trx.execute(
    "UPDATE knowledge SET current = false WHERE current AND id = ANY ($1::text[])",
    [gone],
  );
  await insertPassages(trx, articles.filter(({ id }) => fresh.includes(id)));
  const outdated = articles.filter(({ id }) => stale.includes(id));
  await trx.execute(
    `UPDATE knowledge k SET indexed = n.indexed, category = n.category
     FROM unnest($1::text[], $2::text[], $3::text[]) AS n (id, indexed, category)
     WHERE k.id = n.id AND k.current`,
    [stale, outdated.map(({ indexed }) => indexed), outdated.map(({ category }) => category)],
  );
  if (gone.length + fresh.length + stale.length > 0) {
    await indexPassages(trx, articles.filter(({ id }) => fresh.includes(id) || stale.includes(id)));
  }
  return gone.length + fresh.length > 0 ? change : undefined;
}

type StoredArticle = Pick<NewPassage, "id" | "sha256" | "indexed" | "category">;

/** Compares stored articles with wanted ones. `stale` ones have the same text, but are found by other words. */
function compareArticles(
  stored: readonly StoredArticle[],
  wanted: readonly NewPassage[],
): { change: KnowledgeChange; stale: string[] } {
  const before = new Map(stored.map((row) => [row.id, row]));
  const ids = new Set(wanted.map(({ id }) => id));
  const known = wanted.filter(({ id }) => before.has(id));
  const isSame = ({ id, sha256 }: NewPassage) => before.get(id)!.sha256 === sha256;
  const isStale = ({ id, indexed, category }: NewPassage) =>
    before.get(id)!.indexed !== indexed || before.get(id)!.category !== category;
  return {
    change: {
      added: wanted.filter(({ id }) => !before.has(id)).map(({ id }) => id),
      changed: known.filter((article) => !isSame(article)).map(({ id }) => id),
      withdrawn: [...before.keys()].filter((id) => !ids.has(id)),
      before: stored.length > 0 ? hashOfAll(stored) : null,
      after: hashOfAll(wanted),
    },
    stale: known.filter((article) => isSame(article) && isStale(article)).map(({ id }) => id),
  };
}

function hashOfAll(articles: readonly Pick<NewPassage, "id" | "sha256">[]): string {
  const lines = articles.map(({ id, sha256 }) => `${id} ${sha256}\n`).sort();
  return createHash("sha256").update(lines.join("")).digest("hex");
}

/** Stores past incidents. The newest of a fault replaces those before it. Must run in a transaction. */
export async function storeIncidents(trx: Db, incidents: readonly NewPassage[]): Promise<void> {
  if (incidents.length === 0) return;
  await trx.query("SELECT pg_advisory_xact_lock($1)", [LOCK]);
  const rows = await trx.query<{ id: string }>(
    "SELECT id FROM knowledge WHERE id = ANY ($1::text[])",
    [incidents.map(({ id }) => id)],
  );
  const known = new Set(rows.map(({ id }) => id));
  const fresh = incidents.filter(({ id }) => !known.has(id));
  const faults = fresh.flatMap(({ fault }) => fault ?? []);
  await unindexPassages(trx, [], faults);
  await trx.execute(
    "UPDATE knowledge SET current = false WHERE current AND fault = ANY ($1::text[])",
    [faults],
  );
  await insertPassages(trx, fresh);
  const newest = new Map(fresh.map((incident) => [incident.fault ?? incident.id, incident]));
  const older = fresh.filter((incident) => newest.get(incident.fault ?? incident.id) !== incident);
  await trx.execute(
    "UPDATE knowledge SET current = false WHERE id = ANY ($1::text[])",
    [older.map(({ id }) => id)],
  );
  await indexPassages(trx, [...newest.values()]);
}

/** Stores passages as new versions. Passages of the same ids must not be current any more. */
async function insertPassages(trx: Db, passages: readonly NewPassage[]): Promise<void> {
  await trx.execute(
    `INSERT INTO knowledge (id, version, kind, category, title, content, sha256, fault, indexed)
     SELECT p.id, 1 + coalesce((SELECT max(version) FROM knowledge k WHERE k.id = p.id), 0),
       p.kind, p.category, p.title, p.content, p.sha256, p.fault, p.indexed
     FROM jsonb_to_recordset($1) AS p (id text, kind text, category text, title text, content text,
       sha256 text, fault text, indexed text)`,
    [JSON.stringify(passages)],
  );
}

/** Deletes the terms of passages of these ids or faults. */
async function unindexPassages(
  trx: Db,
  ids: readonly string[],
  faults: readonly string[] = [],
): Promise<void> {
  await trx.execute(
    `WITH gone AS (
       DELETE FROM knowledge_terms WHERE passage IN (
         SELECT nr FROM knowledge WHERE id = ANY ($1::text[]) OR fault = ANY ($2::text[])
       ) RETURNING word
     ), counted AS (
       SELECT word, count(*)::int AS n FROM gone GROUP BY word
     )
     UPDATE knowledge_words w SET passages = w.passages - n FROM counted c
     WHERE w.word = c.word AND w.tenant_id = current_tenant()`,
    [ids, faults],
  );
}

/** Inserts the terms of current passages, which must have none. */
async function indexPassages(trx: Db, passages: readonly NewPassage[]): Promise<void> {
  const terms = passages.flatMap(({ id, terms }) =>
    Object.entries(terms).map(([word, weight]) => ({ id, word, weight }))
  );
  await trx.execute(
    `WITH made AS (
       INSERT INTO knowledge_terms (word, passage, weight)
       SELECT t.word, k.nr, t.weight FROM unnest($1::text[], $2::text[], $3::real[]) AS t (id, word, weight)
       JOIN knowledge k ON k.id = t.id AND k.current AND k.tenant_id = current_tenant() RETURNING word
     )
     INSERT INTO knowledge_words AS w (word, passages) SELECT word, count(*)::int FROM made GROUP BY word
     ON CONFLICT (tenant_id, word) DO UPDATE SET passages = w.passages + excluded.passages`,
    [terms.map(({ id }) => id), terms.map(({ word }) => word), terms.map(({ weight }) => weight)],
  );
  await trx.execute( // the empty word counts all passages of the tenant
    `INSERT INTO knowledge_words (word, passages)
     SELECT '', count(*)::int FROM knowledge WHERE current AND tenant_id = current_tenant()
     ON CONFLICT (tenant_id, word) DO UPDATE SET passages = excluded.passages`,
  );
  await trx.execute("DELETE FROM knowledge_words WHERE passages = 0 AND word <> ''");
}

/** A resolved ticket that may become a past incident. */
export interface ResolvedTicket {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly service: string | null;
  readonly fingerprint: string | null;
  readonly outcome: string | null;
  readonly resolution: string | null;
  readonly receipt_id: string | null;
  /** Its diagnoses, the last one last. */
  readonly diagnoses: readonly Readonly<Record<string, unknown>>[];
  /** Number of other tickets of the same fault that were resolved within the day before this one was opened. */
  readonly repeats: number;
  /** Number of other tickets of the same fault that the same runbook mended more than a day before this one was opened. */
  readonly mended_before: number;
  /** Closed with a key that says that it is a person's. */
  readonly by_person: boolean;
}

/** Returns resolved tickets that nothing was learnt from so far, oldest first. Drills are left out. */
export async function listUnlearntTickets(db: Db, limit: number): Promise<ResolvedTicket[]> {
  const rows = await db.query(
    `SELECT id, title, description, service, fingerprint, outcome, resolution, receipt_id,
       coalesce((SELECT jsonb_agg(data ORDER BY e.id) FROM ticket_events e
         WHERE e.ticket_id = t.id AND e.kind = 'diagnosed'), '[]') AS diagnoses,
       (SELECT count(*)::int FROM tickets o WHERE o.fingerprint = t.fingerprint AND o.id <> t.id
         AND o.resolved_at BETWEEN t.opened_at - interval '1 day' AND t.opened_at) AS repeats,
       (SELECT count(*)::int FROM tickets o WHERE o.fingerprint = t.fingerprint AND o.id <> t.id
         AND o.outcome = 'sealed' AND o.resolved_at < t.opened_at - interval '1 day'
         AND substring(o.resolution FROM '^Runbook [^ ]+') = substring(t.resolution FROM '^Runbook [^ ]+')
       ) AS mended_before,
       EXISTS (SELECT FROM ticket_events e WHERE e.ticket_id = t.id AND e.kind = 'resolved'
         AND e.data ->> 'by' = 'person') AS by_person
     FROM tickets t
     WHERE status = 'resolved' AND coalesce(service, '') !~ $1
       AND NOT EXISTS (SELECT FROM knowledge k WHERE k.id = t.id)
       AND NOT EXISTS (SELECT FROM learning_items i WHERE i.ticket_id = t.id)
     ORDER BY resolved_at, id LIMIT $2`,
    [DRILL_SERVICE_PATTERN, limit],
  );
  return rows as ResolvedTicket[];
}
