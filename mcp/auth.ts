import type { Context } from "koa";
import { isAccessToken, type ToolServerAuth } from "../calls/mod.ts";
import { type Caller, Problem, type Scope } from "../contract/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";
import { challengeOf } from "./protected_resource.ts";

/** The authenticated sender of a request. */
export interface Sender {
  readonly caller: Caller & { readonly keyId: string };
  /** The key or access token as sent. */
  readonly credential: string;
}

/** Authenticates the sender of a request. @throws {Problem} `Unauthenticated`, with the header `WWW-Authenticate` */
export async function authenticate(ctx: Context, auth: ToolServerAuth): Promise<Sender> {
  const { api_key } = ctx.query;
  const credential = /^Bearer +(\S+)$/i.exec(ctx.get("authorization"))?.[1] ??
    (typeof api_key === "string" && api_key !== "" ? api_key : undefined);
  const state = ctx.state as RequestState;
  try {
    if (typeof api_key === "string" && isAccessToken(api_key)) throw tokenInAddress();
    const caller = await auth.authenticate(credential, state.address);
    state.keyId = caller.keyId;
    return { caller: { ...caller, keyId: caller.keyId! }, credential: credential! };
  } catch (error) {
    if (!isUnauthenticated(error)) throw error;
    const hint = credential === undefined && ctx.get("x-api-key")
      ? "; x-api-key, which was sent, is for the gateway"
      : "";
    throw new Problem("Unauthenticated", error.message + hint, {
      headers: { "www-authenticate": challengeOf(auth, credential !== undefined) },
    });
  }
}

/** Creates the refusal of an access token where logs would have it. @see RFC 6750, 2.3 */
const tokenInAddress = () =>
  new Problem(
    "Unauthenticated",
    "Send access tokens as Authorization: Bearer, never in an address",
  );

/** Returns false where a key or access token is no longer valid. While the database is away that is unknown, and streams stay open. */
export async function isValid(
  auth: ToolServerAuth,
  credential: string,
  address: string,
): Promise<boolean> {
  try {
    await auth.authenticate(credential, address);
    return true;
  } catch (error) {
    return !(error instanceof Problem && ENDED.has(error.name));
  }
}

/** Errors after which a credential is of no more use. */
const ENDED: ReadonlySet<string> = new Set(["Unauthenticated", "Forbidden"]);

const isUnauthenticated = (error: unknown): error is Problem =>
  error instanceof Problem && error.name === "Unauthenticated";

/** Creates the error for new requests while the tool server stops. */
export const stoppingProblem = (): Problem =>
  new Problem("Unavailable", "The tool server is stopping; connect again in a few seconds", {
    headers: { "retry-after": "5" },
  });

/** The owner of a session: only requests of the same key, and by access tokens of the same scope, are taken in it. */
export interface SessionOwner {
  readonly keyId: string;
  readonly scope: Scope;
}

/** Refuses a message from another owner than the session's: a session id is no credential. */
export function refuseOtherOwner(session: SessionOwner, { caller }: Sender): void {
  if (session.keyId !== caller.keyId) {
    throw new Problem("Forbidden", "This session was opened with another key");
  }
  if (session.scope !== caller.scope) {
    throw new Problem("Forbidden", "This session was opened with another scope; send initialize");
  }
}
