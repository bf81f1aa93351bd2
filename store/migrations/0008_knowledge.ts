import type { Knex } from "knex";

/** What is known of faults, to be searched and cited: articles that ship, and resolved tickets. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE EXTENSION IF NOT EXISTS pg_trgm;

    CREATE TABLE knowledge (
      nr integer GENERATED ALWAYS AS IDENTITY UNIQUE,
      id text NOT NULL,           -- of the article, or of the ticket
      version integer NOT NULL,   -- from 1; older ones stay, as receipts cite them
      kind text NOT NULL CHECK (kind IN ('article', 'incident')),
      current boolean NOT NULL DEFAULT true,
      category text NOT NULL,
      title text NOT NULL,
      content text NOT NULL,      -- what is cited
      sha256 text NOT NULL,       -- of content
      fault text,                 -- fingerprint of an incident: the newest of a fault stands for all of it
      indexed text NOT NULL,      -- hash of what it is found by
      added_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (id, version)
    );
    CREATE UNIQUE INDEX knowledge_current ON knowledge (id) WHERE current;
    CREATE INDEX knowledge_fault ON knowledge (fault) WHERE current AND fault IS NOT NULL;

    -- The full-text index of what is current. PostgreSQL's own ranks without knowing how rare a word is.
    CREATE TABLE knowledge_terms (
      word text COLLATE "C" NOT NULL,
      passage integer NOT NULL,   -- knowledge.nr
      weight real NOT NULL,       -- how much the passage speaks of it
      PRIMARY KEY (word, passage) INCLUDE (weight)
    );
    CREATE INDEX knowledge_terms_passage ON knowledge_terms (passage);

    -- Its words, and in how many passages each is. The empty word stands for all passages.
    CREATE TABLE knowledge_words (
      word text COLLATE "C" PRIMARY KEY,
      passages integer NOT NULL
    );

    CREATE FUNCTION ticket_resolved() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM pg_notify('sealoop_resolved', NEW.id);
      RETURN NULL;
    END $$;
    CREATE TRIGGER ticket_resolved AFTER INSERT OR UPDATE OF status ON tickets
      FOR EACH ROW WHEN (NEW.status = 'resolved') EXECUTE FUNCTION ticket_resolved();
    CREATE INDEX tickets_resolved ON tickets (resolved_at) WHERE status = 'resolved';

    GRANT SELECT, INSERT, UPDATE, DELETE ON knowledge, knowledge_terms, knowledge_words TO sealoop_app;
  `);
}
