import type { Context } from "koa";
import type { ToolServerAuth } from "../calls/mod.ts";
import { type Caller, Problem } from "../contract/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";

/** The authenticated sender of a request. */
export interface Sender {
  readonly caller: Caller & { readonly keyId: string };
  /** The key as sent. */
  readonly credential: string;
}

/** Authenticates the sender of a request. @throws {Problem} `Unauthenticated`, with the header `WWW-Authenticate` */
export async function authenticate(ctx: Context, auth: ToolServerAuth): Promise<Sender> {
  const { api_key } = ctx.query;
  const credential = /^Bearer +(\S+)$/i.exec(ctx.get("authorization"))?.[1] ??
    (typeof api_key === "string" && api_key !== "" ? api_key : undefined);
  const state = ctx.state as RequestState;
  try {
    const caller = await auth.authenticate(credential, state.address);
    state.keyId = caller.keyId;
    return { caller: { ...caller, keyId: caller.keyId! }, credential: credential! };
  } catch (error) {
    if (!isUnauthenticated(error)) throw error;
    const hint = credential === undefined && ctx.get("x-api-key")
      ? "; x-api-key, which was sent, is for the gateway"
      : "";
    throw new Problem("Unauthenticated", error.message + hint, {
      headers: { "www-authenticate": "Bearer" },
    });
  }
}

/** Returns false where a key is no longer valid. While the database is away that is unknown, and streams stay open. */
export async function isValid(
  auth: ToolServerAuth,
  credential: string,
  address: string,
): Promise<boolean> {
  try {
    await auth.authenticate(credential, address);
    return true;
  } catch (error) {
    return !isUnauthenticated(error);
  }
}

const isUnauthenticated = (error: unknown): error is Problem =>
  error instanceof Problem && error.name === "Unauthenticated";

/** Creates the error for new requests while the tool server stops. */
export const stoppingProblem = (): Problem =>
  new Problem("Unavailable", "The tool server is stopping; connect again in a few seconds", {
    headers: { "retry-after": "5" },
  });

/** Refuses a message from another key than the session's: a session id is no credential. */
export function refuseOtherKey(session: { readonly keyId: string }, { caller }: Sender): void {
  if (session.keyId === caller.keyId) return;
  throw new Problem("Forbidden", "This session was opened with another key");
}
