import type { Context } from "koa";
import type { CallRequest, Operation } from "../contract/mod.ts";
import { type ForeignPageOptions, isOwnPage } from "../runtime/web/mod.ts";

/** The cookies of browsers: of sessions, and of sign-ins by an identity provider that are under way. */
export interface BrowserCookies {
  /**
   * Returns the secrets as a page of the gateway's own has sent them. Those of another page or program count for nothing:
   * browsers say themselves where a request comes from, and pages can't change that.
   */
  read(ctx: Context, operation: Operation<never>): Pick<CallRequest, "session" | "signIn">;
  /** Keeps the secrets that begin, and forgets those that end. @returns the output without them */
  keep(ctx: Context, operation: Operation<never>, output: unknown): unknown;
}

/** Secrets that go into cookies alone. */
interface Secrets {
  readonly session?: string;
  readonly sign_in?: string;
}

/** Seconds that a browser has to come back from the identity provider. */
const SIGN_IN_SECONDS = 600;

/**
 * Returns the cookies of a gateway. With TLS, no other host may set them, and no path but `/` has them; plain HTTP is served
 * on this machine alone. A page of another site never sends a session's, whatever it does.
 *
 * @see RFC 6265bis §4.1.3.2
 */
export function browserCookies(options: ForeignPageOptions): BrowserCookies {
  const prefix = options.secure ? "__Host-" : "";
  const attributes = `Path=/; HttpOnly${options.secure ? "; Secure" : ""}`;
  const session = {
    name: `${prefix}sealoop`,
    attributes: `${attributes}; SameSite=Strict`,
  };
  const signIn = {
    name: `${prefix}sealoop-sign-in`,
    attributes: `Max-Age=${SIGN_IN_SECONDS}; ${attributes}; SameSite=Lax`,
  };

  function set(ctx: Context, cookie: typeof session, value: string | undefined): void {
    const text = value === undefined ? `${cookie.name}=; Max-Age=0` : `${cookie.name}=${value}`;
    const given = value === undefined
      ? cookie.attributes.replace(/^Max-Age=\d+; /, "")
      : cookie.attributes;
    ctx.append("set-cookie", `${text}; ${given}`);
  }

  return {
    read(ctx, { presentation: { signIn: begun } = {} }) {
      if (ctx.get("sec-fetch-site") !== "same-origin" || !isOwnPage(ctx.req, options)) return {};
      return {
        session: ctx.cookies.get(session.name),
        ...(begun === "ends" ? { signIn: ctx.cookies.get(signIn.name) } : {}),
      };
    },
    keep(ctx, { presentation = {} }, output) {
      if (!presentation.session && !presentation.signIn) return output;
      const { session: opened, sign_in: begun, ...rest } = output as Secrets;
      if (presentation.session) set(ctx, session, opened);
      if (presentation.signIn) set(ctx, signIn, begun);
      return rest;
    },
  };
}
