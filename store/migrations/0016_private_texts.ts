/** Texts that Temporal's histories name by their ids. */
export const privateTexts = `
  CREATE TABLE private_texts (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    id text NOT NULL,             -- HMAC of the tenant and the text, hex
    text text NOT NULL,           -- JSON
    used_at timestamptz NOT NULL DEFAULT now(),  -- when it was last given to a run, to within a day
    PRIMARY KEY (tenant_id, id)
  );
  CREATE INDEX private_texts_used ON private_texts (tenant_id, used_at);
  SELECT wall_off(false, 'private_texts');
`;
