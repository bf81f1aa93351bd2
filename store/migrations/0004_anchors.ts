/** Batches of receipts whose common root is timestamped in Bitcoin. Anyone may read them. */
export const anchors = `
  CREATE TABLE anchors (
    first bigint PRIMARY KEY CHECK (first >= 0),
    last bigint NOT NULL CHECK (last >= first),
    root bytea NOT NULL CHECK (length(root) = 32),
    subroots bytea NOT NULL,      -- roots of each 1,024 receipts, concatenated
    state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'pending', 'confirmed')),
    calendars text[] NOT NULL DEFAULT '{}', -- those that accepted the root
    proof bytea,                  -- timestamp of the root, without a header; null: no calendar accepted it
    attempts integer NOT NULL DEFAULT 0,
    last_error text,              -- why it is not confirmed yet
    opened_at timestamptz NOT NULL DEFAULT now(),
    submitted_at timestamptz,
    confirmed_at timestamptz,
    block_height bigint,
    block_header bytea CHECK (length(block_header) = 80),
    block_hash text,
    block_time timestamptz,
    EXCLUDE USING gist (int8range(first, last, '[]') WITH &&), -- no receipt is in two batches
    CHECK ((state = 'open') = (proof IS NULL)),
    CHECK ((state = 'confirmed') = (block_header IS NOT NULL))
  );
  CREATE INDEX anchors_unfinished ON anchors (first) WHERE state <> 'confirmed';
  CREATE INDEX anchors_confirmed ON anchors (block_height DESC) WHERE state = 'confirmed';

  CREATE TABLE anchor_head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    next_position bigint NOT NULL, -- first receipt that is in no batch yet
    confirmed bigint NOT NULL,    -- number of confirmed batches
    anchored_receipts bigint NOT NULL -- receipts in confirmed batches
  );
  INSERT INTO anchor_head (next_position, confirmed, anchored_receipts) VALUES (0, 0, 0);

  -- The range and the root of a batch never change, and nothing of a confirmed batch does.
  CREATE TRIGGER confirmed_stays BEFORE UPDATE ON anchors
    FOR EACH ROW WHEN (OLD.state = 'confirmed') EXECUTE FUNCTION refuse_change();
`;
