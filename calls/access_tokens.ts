import { type Caller, Problem, type Scope } from "../contract/mod.ts";

/** Scopes of access tokens, by the scope of keys that each stands for. */
export const TOKEN_SCOPES: Readonly<Record<Scope, string>> = {
  audit: "sealoop:audit",
  full: "sealoop:full",
};

/** Access tokens by which programs act for people on the tool server (OAuth 2.1). */
export interface AccessTokens {
  /** Address of the tool server's `/mcp`, which tokens have to name as their audience. */
  readonly resource: string;
  /** The authorization server, which is the identity provider that people sign in by. */
  readonly issuer: string;
  /**
   * Returns the person for whom a token was issued: with the rights of their key, narrowed by the token's scope, and never with
   * that to approve.
   *
   * @param address of the client
   * @throws {Problem} `Unauthenticated`: the token does not count; `Forbidden`: its person, or its scope, may not;
   * `Unavailable`: the provider's keys can't be had; `RateLimited`: too many wrong tokens came from the address
   */
  find(token: string, address: string): Promise<Caller>;
}

/** Returns the address of a resource's metadata, by which clients find its authorization server. @see RFC 9728, 3.1 */
export function resourceMetadataUrl(resource: string): string {
  return new URL(`/.well-known/oauth-protected-resource${new URL(resource).pathname}`, resource)
    .href;
}

/** A JSON Web Token that is signed, and no key. */
const FORM = /^eyJ[\w-]+\.[\w-]+\.[\w-]+$/;

/** Returns whether a credential is an access token by its form. */
export function isAccessToken(credential: string): boolean {
  return FORM.test(credential);
}

/** Returns the person of an access token. @param tokens undefined: this process takes none @throws {Problem} */
export async function findTokenCaller(
  tokens: AccessTokens | undefined,
  token: string,
  address: string,
): Promise<Caller> {
  if (tokens) return await tokens.find(token, address);
  throw new Problem(
    "Unauthenticated",
    "Access tokens are taken by the tool server alone, and where an identity provider is set " +
      "(SEALOOP_OIDC_ISSUER): here, a key or a person's own sign-in decides",
  );
}
