import type { Context } from "koa";
import { type Caller, Problem } from "../contract/mod.ts";
import type { RequestState } from "../web/mod.ts";
import type { ToolServerAuth } from "../calls/mod.ts";

/** Who sends a request, and the key as it was sent. */
export interface Sender {
  readonly caller: Caller & { readonly keyId: string };
  readonly credential: string;
}

/** Finds out who sends a request. @throws {Problem} `Unauthenticated`, told in HTTP's way too */
export async function identify(ctx: Context, entrance: ToolServerAuth): Promise<Sender> {
  const { api_key } = ctx.query;
  const credential = /^Bearer +(\S+)$/i.exec(ctx.get("authorization"))?.[1] ??
    (typeof api_key === "string" && api_key !== "" ? api_key : undefined);
  const state = ctx.state as RequestState;
  try {
    const caller = await entrance.authenticate(credential, state.address);
    state.keyId = caller.keyId;
    return { caller: { ...caller, keyId: caller.keyId! }, credential: credential! };
  } catch (error) {
    if (!isRefusal(error)) throw error;
    const headers = { "www-authenticate": "Bearer" };
    const elsewhere = credential === undefined && ctx.get("x-api-key")
      ? "; x-api-key, which was sent, is for the gateway"
      : "";
    throw new Problem("Unauthenticated", error.message + elsewhere, { headers });
  }
}

/** Whether a key is still one. While the database is away nobody can say that it is not, and a stream goes on. */
export async function isValid(
  entrance: ToolServerAuth,
  credential: string,
  address: string,
): Promise<boolean> {
  try {
    await entrance.authenticate(credential, address);
    return true;
  } catch (error) {
    return !isRefusal(error);
  }
}

const isRefusal = (error: unknown): error is Problem =>
  error instanceof Problem && error.name === "Unauthenticated";

/** What is said to new work while the tool server stops. */
export const stopping = (): Problem =>
  new Problem("Unavailable", "The tool server is stopping; connect again in a few seconds", {
    headers: { "retry-after": "5" },
  });

/** Refuses a message that another key than the session's sends: a session's id proves nothing. */
export function refuseForeign(session: { readonly keyId: string }, { caller }: Sender): void {
  if (session.keyId === caller.keyId) return;
  throw new Problem("Forbidden", "This session was opened with another key");
}
