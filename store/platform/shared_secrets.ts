import type { Db } from "../connection.ts";

/** Secrets that all processes of a platform need to have alike, by the names of their fingerprints. */
export const SHARED_SECRETS = ["engine", "webhooks"] as const;

/** The name of one. */
export type SharedSecretName = typeof SHARED_SECRETS[number];

/** The fingerprint of a secret that processes share. The secret can't be found out by it, except by trying each. */
export interface SecretFingerprint {
  readonly salt: Buffer;
  readonly fingerprint: Buffer;
}

/** Returns the fingerprint of a secret; undefined: none is noted. */
export async function findSharedSecret(
  db: Db,
  name: SharedSecretName,
): Promise<SecretFingerprint | undefined> {
  return await db.first<SecretFingerprint>(
    "SELECT salt, fingerprint FROM shared_secrets WHERE name = $1",
    [name],
  );
}

/** Notes the fingerprint of a secret, unless there is one. @returns the one that there is then */
export async function noteSharedSecret(
  db: Db,
  name: SharedSecretName,
  { salt, fingerprint }: SecretFingerprint,
): Promise<SecretFingerprint> {
  await db.execute(
    `INSERT INTO shared_secrets (name, salt, fingerprint) VALUES ($1, $2, $3)
     ON CONFLICT DO NOTHING`,
    [name, salt, fingerprint],
  );
  return (await findSharedSecret(db, name))!;
}

/** Forgets the fingerprint of a secret, as its owner replaces it. @returns false: none was noted */
export async function forgetSharedSecret(db: Db, name: SharedSecretName): Promise<boolean> {
  return await db.execute("DELETE FROM shared_secrets WHERE name = $1", [name]) > 0;
}
