/** The people on a ticket: who has acknowledged an incident, and who has taken it; and since when its service fails. */
export const ticketPeople = `
  ALTER TABLE tickets
    ADD COLUMN acknowledged_by text,  -- principal; null: nobody
    ADD COLUMN acknowledged_at timestamptz,
    ADD COLUMN taken_by text,         -- principal whom the platform leaves it to; null: nobody
    ADD COLUMN taken_at timestamptz,
    ADD COLUMN handed_back_at timestamptz, -- null: it was not, or a run has taken it over since
    ADD COLUMN last_good_at timestamptz, -- when the service passed its check last before; null: not known
    ADD COLUMN problem_id text;  -- ticket of the problem that it is a case of; null: none is known
  ALTER TABLE services ADD COLUMN good_at timestamptz; -- when it passed its check last
`;
