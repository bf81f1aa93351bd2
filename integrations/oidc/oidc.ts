import type { JWTVerifyGetKey } from "jose";
import * as oidc from "openid-client";
import type { Config } from "../../config.ts";
import { type HttpClient, openHttpClient } from "../http/mod.ts";
import { type AccessTokenClaims, readAccessToken, remoteKeys } from "./access_tokens.ts";
import { describeFailure, OidcRefused, OidcUnreachable } from "./errors.ts";

/** Secrets that a browser's answer has to fit; the provider sees the state, the nonce, and a hash of the verifier. */
interface OidcExpectation {
  readonly state: string;
  readonly nonce: string;
  readonly codeVerifier: string;
}

/** Who somebody is, as the provider has signed. */
export interface OidcIdentity {
  readonly subject: string;
  readonly claims: Readonly<Record<string, unknown>>;
  /** The ID token itself, by which the provider knows whom to sign out. */
  readonly idToken: string;
}

/** The provider. It is discovered when it is first needed, and again every hour. */
export interface OidcClient {
  /** As the settings spell it. */
  readonly issuer: string;
  /** @throws {OidcUnreachable} nobody can sign in by it now */
  discover(): Promise<void>;
  /** Begins a sign-in. @returns the address to send the browser to, and what its answer has to fit @throws {OidcUnreachable} */
  begin(redirectUri: string): Promise<OidcExpectation & { readonly url: string }>;
  /**
   * Takes the answer that a browser brings back.
   *
   * @param query of the address that it was sent back to
   * @param wanted claim that is asked for once more where the ID token lacks it
   * @throws {OidcRefused} it does not fit, or the provider has refused
   * @throws {OidcUnreachable}
   */
  finish(
    redirectUri: string,
    query: string,
    expected: OidcExpectation,
    wanted: string,
  ): Promise<OidcIdentity>;
  /**
   * Returns the address at which the provider ends its own session; undefined: it offers none.
   *
   * @param idToken of the sign-in
   * @param returnTo address that it sends the browser to afterwards, registered there
   * @throws {OidcUnreachable}
   * @see OpenID Connect RP-Initiated Logout 1.0
   */
  signOutUrl(idToken: string, returnTo: string): Promise<string | undefined>;
  /**
   * Reads an access token that it has issued for a resource.
   *
   * @param audience the resource
   * @throws {OidcRefused} it is none, is another's, has expired, or is for another resource
   * @throws {OidcUnreachable}
   */
  readAccessToken(token: string, audience: string): Promise<AccessTokenClaims>;
}

/** Time after which the provider is discovered anew, and after a failure. */
const REFRESH_MS = 3_600_000;
const RETRY_MS = 5_000;
const TIMEOUT_MS = 5_000;
/** Longest ID token that goes into an address: servers refuse long ones. Without it the provider asks the person. */
const MAX_HINT_LENGTH = 6_000;

/** Opens the provider that the settings name; undefined: they name none. Nothing is connected. */
export function openOidc({ settings }: Pick<Config, "settings">): OidcClient | undefined {
  const {
    SEALOOP_OIDC_ISSUER: issuer,
    SEALOOP_OIDC_CLIENT_ID: clientId,
    SEALOOP_OIDC_CLIENT_SECRET: secret,
    SEALOOP_OIDC_SCOPES: scope,
    SEALOOP_OUTBOUND_ALLOW: allow,
  } = settings;
  if (issuer === undefined || clientId === undefined) return undefined;
  const server = new URL(issuer);
  const http = openHttpClient({ allow, allowHosts: [server.hostname] });
  const transport = server.protocol === "http:" ? [oidc.allowInsecureRequests] : [];
  let tokenKeys: { readonly url: string; readonly keys: JWTVerifyGetKey } | undefined;
  let known: { readonly metadata: Promise<oidc.ServerMetadata>; until: number } | undefined;

  async function discoverNow(): Promise<oidc.ServerMetadata> {
    const found = await oidc.discovery(server, clientId!, secret, undefined, {
      [oidc.customFetch]: guardedFetch(http),
      execute: transport,
    });
    const metadata = found.serverMetadata();
    if (new URL(metadata.issuer).href === server.href) return metadata;
    throw new Error(`it calls itself ${metadata.issuer}`); // as a provider of many organizations, whose people would all fit
  }

  /** Returns a client that knows no key of the provider yet: it may have changed them since the last sign-in. */
  async function client(): Promise<oidc.Configuration> {
    if (!known || Date.now() >= known.until) {
      const next = { metadata: discoverNow(), until: Date.now() + REFRESH_MS };
      next.metadata.catch(() => next.until = Date.now() + RETRY_MS);
      known = next;
    }
    try {
      const fresh = new oidc.Configuration(await known.metadata, clientId!, secret);
      fresh[oidc.customFetch] = guardedFetch(http);
      oidc.enableNonRepudiationChecks(fresh); // the ID token's signature counts, and not TLS alone
      for (const allow of transport) allow(fresh);
      return fresh;
    } catch (error) {
      const { message } = describeFailure(issuer!, error);
      throw new OidcUnreachable(message, { cause: error });
    }
  }

  return {
    issuer,
    async discover() {
      await client();
    },
    async begin(redirectUri) {
      const provider = await client();
      const codeVerifier = oidc.randomPKCECodeVerifier();
      const [state, nonce] = [oidc.randomState(), oidc.randomNonce()];
      const url = oidc.buildAuthorizationUrl(provider, {
        redirect_uri: redirectUri,
        scope,
        state,
        nonce,
        code_challenge: await oidc.calculatePKCECodeChallenge(codeVerifier),
        code_challenge_method: "S256",
      });
      return { url: url.href, state, nonce, codeVerifier };
    },
    async finish(redirectUri, query, { state, nonce, codeVerifier }, wanted) {
      const provider = await client();
      const answer = new URL(redirectUri);
      answer.search = query;
      try {
        const tokens = await oidc.authorizationCodeGrant(provider, answer, {
          expectedState: state,
          expectedNonce: nonce,
          pkceCodeVerifier: codeVerifier,
          idTokenExpected: true,
        });
        const claims = tokens.claims()!;
        const { userinfo_endpoint } = provider.serverMetadata();
        const more = Object.hasOwn(claims, wanted) || !userinfo_endpoint
          ? {}
          : await oidc.fetchUserInfo(provider, tokens.access_token, claims.sub);
        return {
          subject: claims.sub,
          claims: { ...more, ...claims },
          idToken: tokens.id_token!,
        };
      } catch (error) {
        throw describeFailure(issuer, error);
      }
    },
    async readAccessToken(token, audience) {
      const { issuer: expected, jwks_uri: url } = (await client()).serverMetadata();
      if (!url) throw new OidcUnreachable(`${issuer} publishes no keys (jwks_uri)`);
      if (tokenKeys?.url !== url) tokenKeys = { url, keys: remoteKeys(url, guardedFetch(http)) };
      try {
        return await readAccessToken(token, tokenKeys.keys, { issuer: expected, audience });
      } catch (cause) {
        if (cause instanceof OidcRefused) throw cause;
        const { message } = cause as Error;
        throw new OidcUnreachable(`The keys of ${issuer} can't be read: ${message}`, { cause });
      }
    },
    async signOutUrl(idToken, returnTo) {
      const provider = await client();
      if (!provider.serverMetadata().end_session_endpoint) return undefined;
      return oidc.buildEndSessionUrl(provider, {
        post_logout_redirect_uri: returnTo,
        ...(idToken.length <= MAX_HINT_LENGTH ? { id_token_hint: idToken } : {}),
      }).href;
    },
  };
}

/** Returns a fetch that goes over the guarded client. A redirect is an answer like any other. */
function guardedFetch(http: HttpClient): oidc.CustomFetch {
  return async (url, { method, headers, body }) => {
    const { status, headers: answered, body: bytes } = await http.request(url, {
      method: method as "GET" | "POST",
      headers,
      ...(body ? { body: String(body) } : {}),
      timeoutMs: TIMEOUT_MS,
    });
    const isEmpty = [101, 204, 205, 304].includes(status);
    return new Response(isEmpty ? null : new Uint8Array(bytes), {
      status,
      headers: { ...answered },
    });
  };
}
