/** Results of publishing the items of the pipeline. */
export const publishing = `
  ALTER TABLE pipeline_items
    ADD platform text,            -- network that a post is for
    ADD approval_id text,         -- that it waits for, or waited for
    ADD publishing jsonb;         -- {by, state, code, url}; null: people have not decided yet
  CREATE INDEX pipeline_items_open ON pipeline_items (tenant_id, changed_at)
    WHERE stage = 'review' OR publishing ->> 'state' = 'intended';
`;
