import { FILM_TEXTS } from "../../contract/records/mod.ts";
import type { Db } from "../connection.ts";
import { ERASABLE, type ErasablePlace } from "../_erasable.ts";
import { ERASED, type Eraser, openEraser, type Person } from "./_erase_text.ts";

/** Counts of the rows of each table that were erased or changed. */
export type ErasedRows = Readonly<Record<string, number>>;

/** Returns the ids of mails to a person that are not sent yet. */
export async function listWaitingMails(
  db: Db,
  { contactId, emails }: Person,
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `SELECT id FROM emails WHERE (contact_id = $1 OR lower(recipient_key) = ANY ($2))
       AND state IN ('held', 'queued', 'sending') ORDER BY id`,
    [contactId, emails.map((email) => email.toLowerCase())],
  );
  return rows.map(({ id }) => id);
}

/** Returns the ids of films and speech that are being made of texts that name a person, and of all transcripts that are, as nobody knows yet whom they name. */
export async function listWaitingMedia(db: Db, person: Person): Promise<string[]> {
  const eraser = openEraser(person);
  const film = FILM_TEXTS.map((name) => `p.${name}`).join(", ");
  const rows = await db.query<{ id: string; text: string | null }>(
    `SELECT id, text FROM (
       SELECT p.id, p.state, concat_ws(' ', ${film}, s.heading, s.text) AS text
       FROM video_projects p JOIN video_scenes s ON s.project_id = p.id
       UNION ALL
       SELECT id, state, concat_ws(' ', title, text) FROM audio_clips
       UNION ALL
       SELECT id, state, NULL FROM transcripts) AS made
     WHERE state IN ('queued', 'running') AND (text IS NULL OR text ILIKE ANY ($1)) ORDER BY id`,
    [eraser.patterns],
  );
  const waiting = rows.filter(({ text }) => text === null || eraser.isAbout(text));
  return [...new Set(waiting.map(({ id }) => id))];
}

/**
 * Returns the ids of articles that name a person and are being written or deployed, or wait for people. All that name them
 * are locked until the transaction ends, so that none begins meanwhile.
 */
export async function listWaitingArticles(trx: Db, person: Person): Promise<string[]> {
  const eraser = openEraser(person);
  const text =
    "concat_ws(' ', title, description, page, slug, source_id, keyword, facts, content, checks)";
  const rows = await trx.query<{ id: string; waits: boolean; text: string }>(
    `SELECT id, ${text} AS text,
       state IN ('writing', 'review', 'approved') OR coalesce(deploy ->> 'state' = 'intended', false) AS waits
     FROM articles WHERE ${text} ILIKE ANY ($1) ORDER BY id FOR UPDATE`,
    [eraser.patterns],
  );
  return rows.filter(({ waits, text }) => waits && eraser.isAbout(text)).map(({ id }) => id);
}

/** Returns the sources of recordings that name a person, as their transcripts show. */
export async function listRecordings(db: Db, person: Person): Promise<string[]> {
  const eraser = openEraser(person);
  const rows = await db.query<{ source: string; all: string }>(
    `SELECT source, concat_ws(' ', source, text) AS all FROM transcripts
     WHERE concat_ws(' ', source, text) ILIKE ANY ($1) ORDER BY source`,
    [eraser.patterns],
  );
  return [...new Set(rows.filter(({ all }) => eraser.isAbout(all)).map(({ source }) => source))];
}

/** Returns the pending approvals and held calls about a person: they would run with what is to be erased. */
export async function listWaitingApprovals(db: Db, person: Person): Promise<string[]> {
  const eraser = openEraser(person);
  const rows = await db.query<{ id: string; text: string }>(
    `SELECT id, text FROM (
       SELECT a.id, concat_ws(' ', a.subject, a.description, a.action, a.grounds, h.input) AS text
       FROM approvals a LEFT JOIN held_calls h ON h.approval_id = a.id
       WHERE a.status = 'pending' OR h.state IN ('intended', 'begun')) AS waiting
     WHERE text ILIKE ANY ($1) ORDER BY id`,
    [eraser.patterns],
  );
  return rows.filter(({ text }) => eraser.isAbout(text)).map(({ id }) => id);
}

/**
 * Erases a person from every table of the tenant: texts, evidence with its salts, and kept answers. Receipts stay as they
 * are, as they name nobody. Must run in a transaction.
 */
export async function erasePerson(trx: Db, person: Person): Promise<ErasedRows> {
  const eraser = openEraser(person);
  const erased: Record<string, number> = {
    evidence: await eraseEvidence(trx, person, eraser),
    idempotent_calls: await eraseKeptAnswers(trx, eraser),
    knowledge: await erasePassages(trx, eraser),
    partner_applications: await trx.execute(
      "DELETE FROM partner_applications WHERE lower(email) = ANY ($1)",
      [person.emails.map((email) => email.toLowerCase())],
    ),
  };
  const gone: string[] = [];
  for (const place of ERASABLE) {
    erased[place.table] = await erasePlace(trx, place, person, eraser, gone);
  }
  // From now on nobody can read them; the worker removes what no row names, every day.
  erased.media_files = await trx.execute("DELETE FROM media_files WHERE sha256 = ANY ($1)", [gone]);
  erased.contacts = await trx.execute("DELETE FROM contacts WHERE id = $1", [person.contactId]);
  return Object.fromEntries(Object.entries(erased).filter(([, count]) => count > 0));
}

/** Rewrites the rows of a table that name a person. @param gone gets the hashes of their files @returns how many */
async function erasePlace(
  trx: Db,
  { table, texts = [], json = [], contact, whole, files, set = {} }: ErasablePlace,
  { contactId }: Person,
  eraser: Eraser,
  gone: string[],
): Promise<number> {
  const columns = [...texts, ...json];
  const isTheirs = contact === undefined ? "false" : `coalesce(${contact} = $2, false)`;
  const rows = await trx.query<
    { place: string; theirs: boolean; files: readonly string[] } & Record<string, string | null>
  >(
    `SELECT ctid::text AS place, ${isTheirs} AS theirs, ${files ?? "'{}'::text[]"} AS files, ${
      columns.map((name) => `${name}::text`).join(", ")
    }
     FROM ${table} WHERE ${isTheirs} OR concat_ws(' ', ${
      columns.join(", ")
    }) ILIKE ANY ($1) FOR UPDATE`,
    contact === undefined ? [eraser.patterns] : [eraser.patterns, contactId],
  );
  let count = 0;
  for (const { place, theirs, files: itsFiles, ...row } of rows) {
    const found = columns.some((name) => row[name] != null && eraser.isAbout(row[name]));
    if (!theirs && !found) continue;
    gone.push(...itsFiles.filter(Boolean));
    const values = columns.map((name) => {
      const value = row[name];
      if (value === null || value === undefined) return null;
      if (json.includes(name)) return eraser.eraseInJson(value, theirs);
      return theirs || whole ? ERASED : eraser.eraseIn(value);
    });
    const assignments = [
      ...columns.map((name, n) => `${name} = $${n + 2}`),
      ...Object.entries(set).map(([name, value]) => `${name} = ${value}`),
    ];
    await trx.execute(
      `UPDATE ${table} SET ${assignments.join(", ")} WHERE ctid = $1::tid`,
      [place, ...values],
    );
    count++;
  }
  return count;
}

/** Deletes the evidence that names a person, and all of the receipts about their contact. */
async function eraseEvidence(trx: Db, { contactId }: Person, eraser: Eraser): Promise<number> {
  const rows = await trx.query<{ receipt_id: string; name: string; content: string; own: boolean }>(
    `SELECT receipt_id, name, content, own FROM (
       SELECT receipt_id, name, content, receipt_id IN (
         SELECT a.receipt_id FROM crm_activities a WHERE a.contact_id = $2 AND a.receipt_id IS NOT NULL) AS own
       FROM evidence) AS e
     WHERE own OR content ILIKE ANY ($1)`,
    [eraser.patterns, contactId],
  );
  const found = rows.filter(({ own, content }) => own || eraser.isAbout(content));
  if (found.length === 0) return 0;
  const row = await trx.first<{ deleted: number }>("SELECT delete_evidence($1, $2) AS deleted", [
    found.map(({ receipt_id }) => receipt_id),
    found.map(({ name }) => name),
  ]);
  return row!.deleted;
}

/** Deletes answers that are kept for a day: they hold a digest of the arguments, too. */
async function eraseKeptAnswers(trx: Db, eraser: Eraser): Promise<number> {
  const rows = await trx.query<{ id: string; text: string }>(
    `SELECT id, concat_ws(' ', output, error) AS text FROM idempotent_calls
     WHERE concat_ws(' ', output, error) ILIKE ANY ($1)`,
    [eraser.patterns],
  );
  const ids = rows.filter(({ text }) => eraser.isAbout(text)).map(({ id }) => id);
  return await trx.execute("DELETE FROM idempotent_calls WHERE id = ANY ($1)", [ids]);
}

/** Takes passages that name a person out of the knowledge base, with the words by which they are found. */
async function erasePassages(trx: Db, eraser: Eraser): Promise<number> {
  const rows = await trx.query<{ nr: number; title: string; content: string }>(
    `SELECT nr, title, content FROM knowledge
     WHERE tenant_id = current_tenant() AND title || ' ' || content ILIKE ANY ($1)`,
    [eraser.patterns],
  );
  const found = rows.filter(({ title, content }) => eraser.isAbout(`${title} ${content}`));
  for (const { nr, title, content } of found) {
    await trx.execute(
      `UPDATE knowledge SET title = $2, content = $3, current = false WHERE nr = $1`,
      [nr, eraser.eraseIn(title), eraser.eraseIn(content)],
    );
    await trx.execute(
      `WITH gone AS (DELETE FROM knowledge_terms WHERE passage = $1 RETURNING word),
         words AS (SELECT word FROM gone UNION SELECT '' WHERE EXISTS (SELECT FROM gone))
       UPDATE knowledge_words SET passages = passages - 1
       WHERE tenant_id = current_tenant() AND word IN (SELECT word FROM words)`,
      [nr],
    );
  }
  if (found.length > 0) {
    await trx.execute(
      "DELETE FROM knowledge_words WHERE tenant_id = current_tenant() AND passages <= 0 AND word <> ''",
    );
  }
  return found.length;
}

/** Returns what a contact was called before, as the evidence of its changes says. */
export async function listFormerValues(
  db: Db,
  contactId: string,
): Promise<{ readonly field: "name" | "email" | "phone"; readonly value: string }[]> {
  return await db.query(
    `SELECT DISTINCT e.name AS field, v.value FROM evidence e, json_each_text(
       CASE json_typeof(e.content::json) WHEN 'object' THEN e.content::json ELSE '{}' END) AS v (key, value)
     WHERE e.name IN ('name', 'email', 'phone') AND v.value IS NOT NULL AND e.receipt_id IN (
       SELECT a.receipt_id FROM crm_activities a WHERE a.contact_id = $1)`,
    [contactId],
  );
}
