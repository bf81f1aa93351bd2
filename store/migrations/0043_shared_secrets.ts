/** Fingerprints of the secrets that processes on several machines share, so that one with another secret is found. */
export const sharedSecrets = `
  CREATE TABLE shared_secrets (
    name text PRIMARY KEY,
    salt bytea NOT NULL CHECK (length(salt) = 32),
    fingerprint bytea NOT NULL CHECK (length(fingerprint) = 32), -- scrypt of the secret and the salt
    noted_at timestamptz NOT NULL DEFAULT now()
  );
`;
