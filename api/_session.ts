import type { Context } from "koa";
import type { PasskeyAnswer as Answer } from "../contract/domain/mod.ts";
import { type Operation, Problem } from "../contract/mod.ts";
import { PasskeyAnswer } from "../operations/schemas/mod.ts";

/** The cookie with a session's secret. */
export interface SessionCookie {
  /**
   * Returns the secret as a page of the gateway's own has sent it. That of another page or program counts for nothing:
   * browsers say themselves where a request comes from, and pages can't change that.
   */
  read(ctx: Context): string | undefined;
  /**
   * Returns a passkey's answer about the call, from the header `x-passkey`: base64url of its JSON. Without a session it counts
   * for nothing. @throws {Problem} `InvalidInput`
   */
  readPasskey(ctx: Context): Answer | undefined;
  /** Keeps a new session's secret, and forgets that of one that ends. @returns the output without it */
  keep(ctx: Context, operation: Operation<never>, output: unknown): unknown;
}

/**
 * Returns the cookie of a gateway.
 *
 * @param secure with TLS, no other host may set it, and no path but `/` has it; plain HTTP is served on this machine alone
 * @see RFC 6265bis §4.1.3.2
 */
export function sessionCookie(secure: boolean): SessionCookie {
  const name = secure ? "__Host-sealoop" : "sealoop";
  const attributes = `Path=/; HttpOnly; SameSite=Strict${secure ? "; Secure" : ""}`;
  return {
    read(ctx) {
      if (ctx.get("sec-fetch-site") !== "same-origin") return undefined;
      return ctx.cookies.get(name);
    },
    readPasskey(ctx) {
      const text = ctx.get("x-passkey");
      if (text === "") return undefined;
      const answer = PasskeyAnswer.safeParse(parseJson(text));
      if (answer.success) return answer.data;
      const msg = "Expected base64url of {challenge_id, assertion} as JSON";
      const detail = [{ loc: ["header", "x-passkey"], msg, type: "value_error" }];
      throw new Problem("InvalidInput", msg, { body: { detail } });
    },
    keep(ctx, { presentation: { session } = {} }, output) {
      if (session === undefined) return output;
      const { session: secret, ...rest } = output as { readonly session?: string };
      const value = session === "opens" ? `${name}=${secret}` : `${name}=; Max-Age=0`;
      ctx.append("set-cookie", `${value}; ${attributes}`);
      return rest;
    },
  };
}

function parseJson(base64url: string): unknown {
  try {
    return JSON.parse(Buffer.from(base64url, "base64url").toString());
  } catch {
    return undefined;
  }
}
