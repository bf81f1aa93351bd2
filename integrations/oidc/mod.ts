/**
 * The identity provider by which people sign in (OpenID Connect): authorization code with PKCE, state and nonce.
 *
 * ```ts
 * const { url, ...expected } = await oidc.begin(redirectUri);
 * const { subject, claims } = await oidc.finish(redirectUri, query, expected);
 * ```
 *
 * Trusts: what the provider has signed. Doesn't trust: the browser that brings its answer.
 * @module
 */
export { OidcRefused, OidcUnreachable } from "./errors.ts";
export { type OidcClient, type OidcIdentity, openOidc } from "./oidc.ts";
