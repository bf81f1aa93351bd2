/** Articles, and the board of what is to be published. */
export const articles = `
  CREATE TABLE articles (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- ART- and 12 hex characters
    source_kind text NOT NULL,
    source_id text NOT NULL,
    keyword text,
    state text NOT NULL DEFAULT 'writing',
    steps jsonb NOT NULL DEFAULT '[]', -- those that are over: {step, state, at}
    slug text,                    -- as wanted, then as it is; null: made from the title
    title text,
    description text,
    facts jsonb,                  -- private names are out
    content jsonb,
    authorship jsonb,
    words integer,
    page text,                    -- HTML, as it is published
    page_sha256 text,
    page_salt bytea,              -- of the commitment to it
    checks jsonb,
    approval_id text,
    deploy jsonb,                 -- the last one: {target, state, code, url, at, receipt_id}
    page_receipt_id text NOT NULL, -- named in the page; seals the page's hash when it is published
    receipt_id text,              -- the newest
    requested_by text NOT NULL,   -- principal
    requested_by_key text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    published_at timestamptz,
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX articles_created ON articles (tenant_id, created_at DESC, id DESC);
  CREATE UNIQUE INDEX articles_slug ON articles (tenant_id, slug)
    WHERE state IN ('review', 'approved', 'published', 'not_published', 'unknown');

  CREATE TABLE pipeline_items (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- ITEM- and 12 hex characters
    kind text NOT NULL,
    title text NOT NULL,
    text text,
    source jsonb,                 -- of an article
    stage text NOT NULL,
    platform text,                -- network that a post is for
    article_id text,
    approval_id text,             -- that it waits for, or waited for
    publishing jsonb,             -- {by, state, code, url}; null: people have not decided yet
    receipt_id text NOT NULL,     -- of the newest move
    created_by text NOT NULL,     -- principal
    created_by_key text,
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (tenant_id, id),
    FOREIGN KEY (tenant_id, article_id) REFERENCES articles
  );
  CREATE INDEX pipeline_items_created ON pipeline_items (tenant_id, created_at DESC, id DESC);
  CREATE INDEX pipeline_items_article ON pipeline_items (tenant_id, article_id);
  CREATE INDEX pipeline_items_open ON pipeline_items (tenant_id, changed_at)
    WHERE stage = 'review' OR publishing ->> 'state' = 'intended';
  SELECT wall_off(false, 'articles', 'pipeline_items');
`;
