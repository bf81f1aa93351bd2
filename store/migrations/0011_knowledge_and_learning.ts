/** The knowledge base with its full-text index, and what was learned from resolved tickets. */
export const knowledgeAndLearning = `
  CREATE EXTENSION IF NOT EXISTS pg_trgm;

  -- Articles belong to everyone; what a tenant has learnt belongs to it.
  CREATE TABLE knowledge (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    nr integer GENERATED ALWAYS AS IDENTITY UNIQUE,
    id text NOT NULL,             -- of the article or of the ticket
    version integer NOT NULL,     -- from 1; earlier versions stay, as receipts cite them
    kind text NOT NULL CHECK (kind IN ('article', 'incident')),
    current boolean NOT NULL DEFAULT true,
    category text NOT NULL,
    title text NOT NULL,
    content text NOT NULL,        -- the text that is cited
    sha256 text NOT NULL,         -- of content
    fault text,                   -- fingerprint of an incident: only the newest of a fault is current
    indexed text NOT NULL,        -- hash of what the index was built from
    added_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (tenant_id, id, version)
  );
  CREATE UNIQUE INDEX knowledge_current ON knowledge (tenant_id, id) WHERE current;
  CREATE INDEX knowledge_fault ON knowledge (tenant_id, fault) WHERE current AND fault IS NOT NULL;

  -- The full-text index of current passages. PostgreSQL's own ranking does not know how rare a word is.
  CREATE TABLE knowledge_terms (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    word text COLLATE "C" NOT NULL,
    passage integer NOT NULL,     -- knowledge.nr
    weight real NOT NULL,
    PRIMARY KEY (tenant_id, word, passage) INCLUDE (weight)
  );
  CREATE INDEX knowledge_terms_passage ON knowledge_terms (tenant_id, passage);

  -- In how many passages each word is. The empty word counts all passages.
  CREATE TABLE knowledge_words (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    word text COLLATE "C" NOT NULL,
    passages integer NOT NULL,
    PRIMARY KEY (tenant_id, word)
  );
  SELECT wall_off(true, 'knowledge', 'knowledge_terms', 'knowledge_words');

  CREATE TABLE learning_items (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,
    ticket_id text NOT NULL,
    title text NOT NULL,
    category text NOT NULL,
    score smallint NOT NULL CHECK (score BETWEEN 0 AND 100),
    factors jsonb NOT NULL,       -- [{factor, points}]
    passage jsonb NOT NULL,       -- the passage for the knowledge base
    state text NOT NULL CHECK (state IN ('dropped', 'queued', 'applied')),
    receipt_id text,              -- null: not applied
    decided_by text,              -- principal; null: the arbiter
    made_at timestamptz NOT NULL DEFAULT now(),
    applied_at timestamptz,
    PRIMARY KEY (tenant_id, id),
    UNIQUE (tenant_id, ticket_id)
  );
  CREATE INDEX learning_items_queue ON learning_items (tenant_id, score DESC, made_at) WHERE state = 'queued';
  CREATE INDEX learning_items_made ON learning_items (tenant_id, made_at DESC);
  SELECT wall_off(false, 'learning_items');
`;
