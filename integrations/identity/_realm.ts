import { z } from "zod";
import {
  openCircuitBreaker,
  openRemoteClient,
  type RemoteClient,
  RemoteFailed,
} from "../remote/mod.ts";

/** Address of a realm, and the client that the platform is there. */
export interface RealmOptions {
  /** The realm's address, which ends in `/realms/` and its name. */
  readonly url: string;
  /** Id of our client. */
  readonly clientId: string;
  /** Returns the client's secret. */
  readonly secret: () => string;
}

/** The admin API of a realm. */
export type Realm = Pick<RemoteClient, "read" | "act" | "pause">;

const SYSTEM = "Keycloak";
/** A token is not used in the last seconds of its life. */
const TOKEN_MARGIN_MS = 10_000;

const Token = z.object({
  access_token: z.string().regex(/^[\w.~+/-]+=*$/).max(16_000),
  expires_in: z.number().min(0),
});

/**
 * Opens the client of a realm's admin API. It gets a token by our client's credentials, and keeps it in memory alone.
 *
 * @see https://www.keycloak.org/docs-api/latest/rest-api/index.html
 */
export function openRealm({ url, clientId, secret }: RealmOptions): Realm {
  const shared = { system: SYSTEM, breaker: openCircuitBreaker() };
  const login = openRemoteClient({
    ...shared,
    url,
    credential: () => ({ authorization: `Basic ${basicAuth(clientId, secret())}` }),
  });
  let token: { readonly text: string; readonly expiresMs: number } | undefined;
  const admin = openRemoteClient({
    ...shared,
    url: url.replace(/\/realms\/([^/]+)$/, "/admin/realms/$1"),
    credential: () => ({ authorization: `Bearer ${token!.text}` }),
  });

  async function logIn(): Promise<void> {
    if (token && performance.now() < token.expiresMs) return;
    const { access_token, expires_in } = await login.read({
      method: "POST",
      path: "/protocol/openid-connect/token",
      form: { grant_type: "client_credentials" },
      answer: Token,
    });
    const expiresMs = performance.now() + expires_in * 1_000 - TOKEN_MARGIN_MS;
    token = { text: access_token, expiresMs };
  }

  /** A token that is not accepted may have been revoked: the next request gets another one. */
  function forget(error: unknown): never {
    if (error instanceof RemoteFailed && error.code === "credential") token = undefined;
    throw error;
  }

  return {
    async read(request) {
      await logIn();
      return await admin.read(request).catch(forget);
    },
    async act(request) {
      await logIn().catch(nothingWasSent);
      return await admin.act(request).catch(forget);
    },
    pause: admin.pause,
  };
}

/** Without a token an act is not sent. */
function nothingWasSent(error: unknown): never {
  if (!(error instanceof RemoteFailed)) throw error;
  const about = error.message.slice(SYSTEM.length + 1);
  throw new RemoteFailed(SYSTEM, error.code, about, "not_done", error.retryAfterMs);
}

/** Both parts are written as in forms. @see https://www.rfc-editor.org/rfc/rfc6749#section-2.3.1 */
function basicAuth(...parts: readonly string[]): string {
  return Buffer.from(parts.map(encodeURIComponent).join(":")).toString("base64");
}
