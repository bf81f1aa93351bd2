/** Access tokens that the provider has signed: JSON Web Tokens (RFC 9068, and those of providers that are close to it). */
import { createRemoteJWKSet, customFetch, errors, jwtVerify, type JWTVerifyGetKey } from "jose";
import type * as oidc from "openid-client";
import { OidcRefused } from "./errors.ts";

/** Who an access token stands for, as the provider has signed. */
export interface AccessTokenClaims {
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
}

/** Signatures that only the provider can make. */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "EdDSA",
];
/** Values of `typ`; absent: the provider does not say. */
const TYPES = new Set(["jwt", "at+jwt", "application/at+jwt"]);
const CLOCK_TOLERANCE_SECONDS = 30;
/** Failures to get the provider's keys, which say nothing about a token. */
const NO_KEYS = new Set(["ERR_JOSE_GENERIC", "ERR_JWKS_TIMEOUT", "ERR_JWKS_INVALID"]);

/** Returns the keys of a provider, fetched when they are first needed, and when a token names an unknown one. */
export function remoteKeys(url: string, fetch: oidc.CustomFetch): JWTVerifyGetKey {
  return createRemoteJWKSet(new URL(url), {
    [customFetch]: (address, { method, headers }) =>
      fetch(address, {
        method,
        headers: Object.fromEntries(headers),
        body: null,
        redirect: "manual",
      }),
  });
}

/**
 * Reads an access token.
 *
 * @param audience that it has to name
 * @throws {OidcRefused} it does not count
 * @throws {Error} the provider's keys can't be had
 */
export async function readAccessToken(
  token: string,
  keys: JWTVerifyGetKey,
  { issuer, audience }: { readonly issuer: string; readonly audience: string },
): Promise<AccessTokenClaims> {
  const refuse = (why: string, cause?: Error) =>
    new OidcRefused(`The access token is not accepted: ${why}`, { cause });
  try {
    const { payload, protectedHeader: { typ } } = await jwtVerify(token, keys, {
      issuer,
      audience,
      algorithms: ALGORITHMS,
      requiredClaims: ["sub", "exp"],
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    });
    if (typ !== undefined && !TYPES.has(typ.toLowerCase())) throw refuse(`it is a ${typ}`);
    // Whoever has such a token alone is not who it was given to.
    if (payload.cnf !== undefined) throw refuse("it is bound to a key of its client (cnf)");
    return { subject: payload.sub!, claims: payload };
  } catch (error) {
    if (error instanceof errors.JOSEError && !NO_KEYS.has(error.code)) {
      throw refuse(error.message, error);
    }
    throw error;
  }
}
