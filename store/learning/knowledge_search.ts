import type { Db } from "../connection.ts";
import type { NewPassage } from "./knowledge.ts";

/** A passage that matches a search. */
export interface PassageMatch
  extends Pick<NewPassage, "id" | "kind" | "category" | "title" | "sha256"> {
  readonly nr: number;
  /** > 0; comparable within one search only. */
  readonly score: number;
}

/**
 * Ranks the tenant's passages and the shared ones by BM25. At most 40 words are looked up, the rarest first, and none that more than a quarter of all
 * passages have: more words add time, not precision.
 *
 * For at most 4 words that no passage has, the longest first, words of similar spelling stand in. Such a word begins
 * with the same letter (mistakes are rare there, and an index finds it), is at most one character longer or shorter, and
 * has a trigram similarity of at least 0.3; it counts 0.7 times its similarity.
 */
const SEARCH = {
  name: "search_knowledge",
  text: `
  WITH every AS MATERIALIZED (
    SELECT sum(passages)::int AS n FROM knowledge_words WHERE word = ''
  ), known AS MATERIALIZED (
    SELECT word, sum(passages)::int AS passages FROM knowledge_words WHERE word = ANY ($1::text[]) GROUP BY word
  ), rare AS (
    SELECT word, passages, 1::real AS counts FROM known, every
    WHERE passages <= greatest(n / 4, 3) ORDER BY passages, word LIMIT 40
  ), unknown AS (
    SELECT u.word FROM unnest($1::text[]) AS u (word)
    WHERE length(u.word) > 4 AND u.word !~ '[0-9]' AND NOT EXISTS (SELECT FROM known k WHERE k.word = u.word)
    ORDER BY length(u.word) DESC, u.word LIMIT 4
  ), alike AS (
    SELECT near.word, near.passages, max(near.likeness) * 0.7::real AS counts
    FROM unknown u CROSS JOIN LATERAL (
      SELECT w.word, sum(w.passages)::int AS passages, similarity(w.word, u.word) AS likeness FROM knowledge_words w
      WHERE w.word >= left(u.word, 1) AND w.word < left(u.word, 1) || U&'\\FFFF'
        AND abs(length(w.word) - length(u.word)) <= 1 AND similarity(w.word, u.word) >= 0.3
      GROUP BY w.word
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
  ORDER BY s.score DESC, k.id LIMIT $3`,
};

/**
 * Finds passages by the words of a text: the rarer the words that they share, the better.
 *
 * @param stems of the text, each once
 * @param limit > 0
 */
export async function searchKnowledge(
  db: Db,
  stems: readonly string[],
  { kinds, limit }: { readonly kinds: readonly NewPassage["kind"][]; readonly limit: number },
): Promise<PassageMatch[]> {
  const rows = await db.query(SEARCH, [stems, kinds, limit]);
  return rows as PassageMatch[];
}

const TEXTS = {
  name: "passage_texts",
  text: "SELECT nr, content FROM knowledge WHERE nr = ANY ($1::int[])",
};

/** Returns the texts of passages by their numbers. */
export async function getPassageTexts(
  db: Db,
  numbers: readonly number[],
): Promise<Map<number, string>> {
  const rows = await db.query(TEXTS, [numbers]);
  return new Map(rows.map(({ nr, content }) => [nr, content]));
}
