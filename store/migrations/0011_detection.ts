import type { Knex } from "knex";

/** What detectors found, with its evidence, and what they know from one look to the next. */
export async function up(trx: Knex): Promise<void> {
  await trx.raw(`
    CREATE TABLE findings (
      fingerprint text PRIMARY KEY,
      detector text NOT NULL,
      service text,               -- as it was called then; it may be gone
      host text,
      kind text NOT NULL,         -- http, tcp, command, host, log, certificate, platform
      code text NOT NULL,
      severity text NOT NULL CHECK (severity IN ('critical', 'high', 'medium', 'low')),
      root text NOT NULL,         -- fingerprint of the likely cause, its own where it is that
      summary text NOT NULL,      -- one sentence for people
      detail jsonb NOT NULL DEFAULT '{}', -- evidence
      target jsonb NOT NULL DEFAULT '{}', -- what to look at again
      sightings bigint NOT NULL DEFAULT 1,
      first_seen_at timestamptz NOT NULL DEFAULT now(),
      last_seen_at timestamptz NOT NULL DEFAULT now(),
      cleared_at timestamptz      -- null: it was there at the last look
    );
    CREATE INDEX findings_open ON findings (detector, host) WHERE cleared_at IS NULL;
    CREATE INDEX findings_seen ON findings (last_seen_at);

    CREATE TABLE probe_history (
      service text PRIMARY KEY REFERENCES services (name) ON DELETE CASCADE,
      looks text NOT NULL DEFAULT '', -- the last ones, oldest first: u up, s up but slow, d down
      flapping boolean NOT NULL DEFAULT false
    );

    CREATE TABLE log_places (
      host text NOT NULL,
      path text NOT NULL,
      place jsonb NOT NULL,       -- which file it is, and how far it was read
      state jsonb NOT NULL,       -- templates, usual rates, sources of attacks
      updated_at timestamptz NOT NULL DEFAULT now(),
      PRIMARY KEY (host, path)
    );

    GRANT SELECT, INSERT, UPDATE, DELETE ON findings, probe_history, log_places TO sealoop_app;
  `);
}
