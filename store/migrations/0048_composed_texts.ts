/** Where texts of the platform that records store quote others. */
export const composedTexts = `
  CREATE TABLE composed_texts (
    tenant_id text NOT NULL DEFAULT current_tenant(),
    sha256 bytea NOT NULL,        -- of the text
    quoted jsonb NOT NULL,        -- [from, to] of each quote; the rest are the platform's own words
    PRIMARY KEY (tenant_id, sha256)
  );
  SELECT wall_off(false, 'composed_texts');
`;
