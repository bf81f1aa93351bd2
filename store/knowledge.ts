import { createHash } from "node:crypto";
import { type Queryable, type Store, transaction } from "./connection.ts";

/** What is to be known. */
export interface NewPassage {
  readonly id: string;
  readonly kind: "article" | "incident";
  readonly category: string;
  readonly title: string;
  /** What is cited. */
  readonly content: string;
  /** Of the content, 64 hex characters. */
  readonly sha256: string;
  /** Fingerprint of an incident's fault; null: none. */
  readonly fault: string | null;
  /** Words that it is found by, and how much it speaks of each, > 0. */
  readonly terms: Readonly<Record<string, number>>;
  /** Hash of the terms. */
  readonly indexed: string;
}

/** A passage that was found. */
export interface PassageMatch {
  readonly nr: number;
  readonly id: string;
  readonly kind: "article" | "incident";
  readonly category: string;
  readonly title: string;
  readonly sha256: string;
  /** > 0; comparable within one search only. */
  readonly score: number;
}

/** How the articles that are stored came to be others. */
export interface KnowledgeChange {
  readonly added: readonly string[];
  readonly changed: readonly string[];
  readonly withdrawn: readonly string[];
  /** SHA-256 of the ids and hashes of all articles, before (null: there were none) and after. */
  readonly before: string | null;
  readonly after: string;
}

/** Key of the advisory lock under which articles are stored; any number that nobody else of this database uses. */
const LOCK = 7_365_616_108;

/**
 * Makes the stored articles those that are given. What was cited stays: a changed article is a new version, and one that
 * is no more is only not found any more.
 *
 * @param changed told of a change within its transaction
 */
export async function storeArticles(
  store: Store,
  articles: readonly NewPassage[],
  changed: (trx: Queryable, change: KnowledgeChange) => Promise<void>,
): Promise<KnowledgeChange> {
  return await transaction(store, async (trx) => {
    await trx.raw("SELECT pg_advisory_xact_lock(?)", [LOCK]);
    const rows = await trx("knowledge").where({ current: true, kind: "article" })
      .select("id", "sha256", "indexed", "category", "title");
    const there = new Map(rows.map((row) => [row.id as string, row]));
    const wanted = new Set(articles.map(({ id }) => id));
    const isNew = ({ id, sha256 }: NewPassage) => there.get(id)?.sha256 !== sha256;
    const change: KnowledgeChange = {
      added: articles.filter(({ id }) => !there.has(id)).map(({ id }) => id),
      changed: articles.filter((it) => there.has(it.id) && isNew(it)).map(({ id }) => id),
      withdrawn: [...there.keys()].filter((id) => !wanted.has(id)),
      before: rows.length > 0 ? hashOfAll(rows) : null,
      after: hashOfAll(articles),
    };
    const gone = [...change.changed, ...change.withdrawn];
    const stale = articles.filter((it) => {
      const row = there.get(it.id);
      return !isNew(it) && (row!.indexed !== it.indexed || row!.category !== it.category);
    });
    await unindexPassages(trx, [...gone, ...stale.map(({ id }) => id)]);
    await trx("knowledge").where({ current: true }).whereIn("id", gone).update({ current: false });
    await insertPassages(trx, articles.filter(isNew));
    for (const { id, indexed, category } of stale) {
      await trx("knowledge").where({ id, current: true }).update({ indexed, category });
    }
    if (gone.length + change.added.length + stale.length > 0) {
      await indexPassages(trx, articles.filter((it) => isNew(it) || stale.includes(it)));
    }
    if (gone.length + change.added.length > 0) await changed(trx, change);
    return change;
  });
}

function hashOfAll(articles: readonly Pick<NewPassage, "id" | "sha256">[]): string {
  const lines = articles.map(({ id, sha256 }) => `${id} ${sha256}\n`).sort();
  return createHash("sha256").update(lines.join("")).digest("hex");
}

/** A resolved ticket that is to become a past incident. */
export interface ResolvedTicket {
  readonly id: string;
  readonly title: string;
  readonly description: string;
  readonly service: string | null;
  readonly fingerprint: string | null;
  readonly outcome: string | null;
  readonly resolution: string | null;
  readonly receipt_id: string | null;
  /** What each diagnosis of it said, the last one last. */
  readonly diagnoses: readonly Readonly<Record<string, unknown>>[];
  /** Other tickets of the same fault that were resolved within the day before it was opened: what did not hold. */
  readonly repeats: number;
  /** Other tickets of the same fault that the same runbook had mended more than a day before it was opened. */
  readonly mended_before: number;
  /** Whether somebody closed it whose key says that it is a person's. */
  readonly by_person: boolean;
}

/** Resolved tickets that nothing was learnt from so far, oldest first. Those of drills are exercises. */
export async function listUnlearntTickets(on: Queryable, limit: number): Promise<ResolvedTicket[]> {
  const { rows } = await on.raw(
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
     WHERE status = 'resolved' AND coalesce(service, '') !~ ?
       AND NOT EXISTS (SELECT FROM knowledge k WHERE k.id = t.id)
       AND NOT EXISTS (SELECT FROM learning_items i WHERE i.ticket_id = t.id)
     ORDER BY resolved_at, id LIMIT ?`,
    [DRILLS, limit],
  );
  return rows;
}

/**
 * Stores past incidents. The newest of a fault takes the place of those before it.
 *
 * @param learnt told of them within the transaction
 */
export async function storeIncidents(
  store: Store,
  incidents: readonly NewPassage[],
  learnt: (trx: Queryable) => Promise<void>,
): Promise<void> {
  if (incidents.length === 0) return;
  await transaction(store, async (trx) => {
    await trx.raw("SELECT pg_advisory_xact_lock(?)", [LOCK]);
    const ids = incidents.map(({ id }) => id);
    const known = new Set(await trx("knowledge").whereIn("id", ids).pluck("id"));
    const fresh = incidents.filter(({ id }) => !known.has(id));
    const newest = new Map(fresh.map((it) => [it.fault ?? it.id, it]));
    const faults = fresh.flatMap(({ fault }) => fault ?? []);
    await unindexPassages(trx, [], faults);
    await trx("knowledge").where({ current: true }).whereIn("fault", faults)
      .update({ current: false });
    await insertPassages(trx, fresh);
    const older = fresh.filter((it) => newest.get(it.fault ?? it.id) !== it);
    await trx("knowledge").whereIn("id", older.map(({ id }) => id)).update({ current: false });
    await indexPassages(trx, [...newest.values()]);
    await learnt(trx);
  });
}

/** Stores passages as new versions; those of the same ids must not be current any more. */
async function insertPassages(on: Queryable, passages: readonly NewPassage[]): Promise<void> {
  await on.raw(
    `INSERT INTO knowledge (id, version, kind, category, title, content, sha256, fault, indexed)
     SELECT p.id, 1 + coalesce((SELECT max(version) FROM knowledge k WHERE k.id = p.id), 0),
       p.kind, p.category, p.title, p.content, p.sha256, p.fault, p.indexed
     FROM jsonb_to_recordset(?::jsonb) AS p (id text, kind text, category text, title text, content text,
       sha256 text, fault text, indexed text)`,
    [JSON.stringify(passages)],
  );
}

/** Forgets by what passages of these ids or faults are found. */
async function unindexPassages(
  on: Queryable,
  ids: readonly string[],
  faults: readonly string[] = [],
): Promise<void> {
  await on.raw(
    `WITH gone AS (
       DELETE FROM knowledge_terms WHERE passage IN (
         SELECT nr FROM knowledge WHERE id = ANY (?::text[]) OR fault = ANY (?::text[])
       ) RETURNING word
     ), counted AS (
       SELECT word, count(*)::int AS n FROM gone GROUP BY word
     )
     UPDATE knowledge_words w SET passages = w.passages - n FROM counted c WHERE w.word = c.word`,
    [[...ids], [...faults]],
  );
}

/** Makes the terms by which current passages are found, which must have none. */
async function indexPassages(on: Queryable, passages: readonly NewPassage[]): Promise<void> {
  const terms = passages.flatMap(({ id, terms }) =>
    Object.entries(terms).map(([word, weight]) => ({ id, word, weight }))
  );
  await on.raw(
    `WITH made AS (
       INSERT INTO knowledge_terms (word, passage, weight)
       SELECT t.word, k.nr, t.weight FROM unnest(?::text[], ?::text[], ?::real[]) AS t (id, word, weight)
       JOIN knowledge k ON k.id = t.id AND k.current RETURNING word
     )
     INSERT INTO knowledge_words AS w SELECT word, count(*)::int FROM made GROUP BY word
     ON CONFLICT (word) DO UPDATE SET passages = w.passages + excluded.passages`,
    [terms.map(({ id }) => id), terms.map(({ word }) => word), terms.map(({ weight }) => weight)],
  );
  await on.raw(
    `INSERT INTO knowledge_words SELECT '', count(*)::int FROM knowledge WHERE current
     ON CONFLICT (word) DO UPDATE SET passages = excluded.passages`,
  );
  await on.raw("DELETE FROM knowledge_words WHERE passages = 0 AND word <> ''");
}

/** Names of the services that test incidents break, and of the sandboxes of practice attacks. */
export const DRILLS = "^(test|attack)-[0-9a-f]{8}$";

/** Words of the text that are looked for, the rarest first; more add nothing but time. */
const MOST_WORDS = 40;
/** Words that nobody has written so far, for which others that are spelt alike are looked for. */
const MOST_UNKNOWN = 4;
/** How alike two words are at least, by the trigrams that they share, and what that counts beside the word itself. */
const LEAST_ALIKE = 0.3;
const ALIKE_COUNTS = 0.7;

const SEARCH = `
  WITH every AS MATERIALIZED (
    SELECT passages AS n FROM knowledge_words WHERE word = ''
  ), known AS MATERIALIZED (
    SELECT word, passages FROM knowledge_words WHERE word = ANY ($1::text[])
  ), rare AS (
    SELECT word, passages, 1::real AS counts FROM known, every
    WHERE passages <= greatest(n / 4, 3) ORDER BY passages, word LIMIT ${MOST_WORDS}
  ), unknown AS (
    SELECT u.word FROM unnest($1::text[]) AS u (word)
    WHERE length(u.word) > 4 AND u.word !~ '[0-9]' AND NOT EXISTS (SELECT FROM known k WHERE k.word = u.word)
    ORDER BY length(u.word) DESC, u.word LIMIT ${MOST_UNKNOWN}
  ), alike AS ( -- a first letter is hardly ever wrong, and an index knows where it is
    SELECT near.word, near.passages, max(near.likeness) * ${ALIKE_COUNTS}::real AS counts
    FROM unknown u CROSS JOIN LATERAL (
      SELECT w.word, w.passages, similarity(w.word, u.word) AS likeness FROM knowledge_words w
      WHERE w.word >= left(u.word, 1) AND w.word < left(u.word, 1) || U&'\\FFFF'
        AND abs(length(w.word) - length(u.word)) <= 1 AND similarity(w.word, u.word) >= ${LEAST_ALIKE}
      ORDER BY likeness DESC, w.word LIMIT 3
    ) near GROUP BY near.word, near.passages
  ), asked AS MATERIALIZED (
    SELECT word, max(counts) * ln(1 + (n - passages + 0.5) / (passages + 0.5))::real AS counts
    FROM (SELECT * FROM rare UNION ALL SELECT * FROM alike) a, every GROUP BY word, passages, n
  ), scored AS (
    SELECT t.passage, sum(a.counts * t.weight) AS score FROM asked a CROSS JOIN LATERAL (
      SELECT passage, weight FROM knowledge_terms WHERE word = a.word OFFSET 0 -- by its index, word by word
    ) t GROUP BY t.passage
  )
  SELECT k.nr, k.id, k.kind, k.category, k.title, k.sha256, s.score::float8
  FROM scored s JOIN knowledge k ON k.nr = s.passage
  WHERE k.current AND k.kind = ANY ($2::text[])
  ORDER BY s.score DESC, k.id LIMIT $3`;

/**
 * Finds passages by their words: the rarer those that they share with a text, the better (BM25). Where a word is known
 * to none of them, words that share its trigrams stand for it.
 *
 * @param stems of the text, each once
 * @param limit most passages, > 0
 */
export async function searchKnowledge(
  { pool }: Pick<Store, "pool">,
  stems: readonly string[],
  { kinds, limit }: { readonly kinds: readonly NewPassage["kind"][]; readonly limit: number },
): Promise<PassageMatch[]> {
  const values = [stems, kinds, limit];
  const { rows } = await pool.query({ name: "search_knowledge", text: SEARCH, values });
  return rows;
}

/** Texts of passages by their numbers. */
export async function getPassageTexts(
  { pool }: Pick<Store, "pool">,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  const { rows } = await pool.query({
    name: "passage_texts",
    text: "SELECT nr, content FROM knowledge WHERE nr = ANY ($1::int[])",
    values: [numbers],
  });
  return new Map(rows.map(({ nr, content }) => [nr, content]));
}

/** What of a passage a citation can be held against. */
export interface KnownPassage
  extends Pick<NewPassage, "id" | "kind" | "category" | "title" | "content" | "sha256"> {
  readonly version: number;
  /** False: it was changed or withdrawn since. */
  readonly current: boolean;
}

/** Every version of passages that is stored, the newest of each first: what citations are held against. */
export async function passagesById(
  { pool }: Pick<Store, "pool">,
  ids: readonly string[],
): Promise<KnownPassage[]> {
  const { rows } = await pool.query({
    name: "passages_by_id",
    text: `SELECT id, version, current, kind, category, title, content, sha256 FROM knowledge
      WHERE id = ANY ($1::text[]) ORDER BY id, version DESC`,
    values: [ids],
  });
  return rows;
}
