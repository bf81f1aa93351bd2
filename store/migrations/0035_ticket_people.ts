/** The people on a ticket: who has acknowledged an incident, and who has taken it. */
export const ticketPeople = `
  ALTER TABLE tickets
    ADD COLUMN acknowledged_by text,  -- principal; null: nobody
    ADD COLUMN acknowledged_at timestamptz,
    ADD COLUMN taken_by text,         -- principal whom the platform leaves it to; null: nobody
    ADD COLUMN taken_at timestamptz,
    ADD COLUMN handed_back_at timestamptz; -- null: it was not, or a run has taken it over since
`;
