import type { Db } from "../connection.ts";
import { hashToken, newForm } from "./_tokens.ts";

/** A sign-in by an identity provider that a browser has begun. */
interface ProviderSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
  /** Path of the page that the person was headed for. */
  readonly page: string;
}

const BROWSER = newForm("browser");

/** Stores a sign-in that begins, and forgets those that have expired. @returns the browser's secret, which is stored nowhere */
export async function putProviderSignIn(
  db: Db,
  { state, nonce, codeVerifier, page }: ProviderSignIn,
  seconds: number,
): Promise<string> {
  const token = BROWSER.make();
  await db.execute("DELETE FROM provider_sign_ins WHERE expires_at < now()");
  await db.execute(
    `INSERT INTO provider_sign_ins (token_hash, state, nonce, code_verifier, page, expires_at)
     VALUES ($1, $2, $3, $4, $5, now() + make_interval(secs => $6))`,
    [hashToken(token), state, nonce, codeVerifier, page, seconds],
  );
  return token;
}

/** Takes what a browser has begun, which nobody can take again. @returns undefined: it has begun nothing, or too long ago */
export async function takeProviderSignIn(
  db: Db,
  token: string,
): Promise<ProviderSignIn | undefined> {
  if (!BROWSER.fits(token)) return undefined;
  return await db.first<ProviderSignIn>(
    `DELETE FROM provider_sign_ins WHERE token_hash = $1 AND expires_at > now()
     RETURNING state, nonce, code_verifier AS "codeVerifier", page`,
    [hashToken(token)],
  );
}
