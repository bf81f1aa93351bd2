import type Router from "@koa/router";
import { readUnsubscribeToken, unsubscribe, UNSUBSCRIBE_PATH } from "../calls/mail/mod.ts";
import type { Platform } from "../calls/mod.ts";
import type { RequestState } from "../web/mod.ts";

/** The part of a request that a page is shown for. */
interface PageContext {
  type: string;
  status: number;
  body: unknown;
  set(fields: Record<string, string>): void;
}

const POLICY = "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

/**
 * Binds the links by which recipients of mail opt out. Opening one shows a page with a button, since programs that scan
 * mail open links; the button, and mail programs by themselves (RFC 8058), opt out by POST. There is no login: whoever
 * has the link was sent the mail.
 */
export function bindUnsubscribe(
  router: Router<RequestState>,
  { store, failures }: Pick<Platform, "store" | "failures">,
): void {
  const path = `${UNSUBSCRIBE_PATH}:token`;
  const answer = async (
    ctx: PageContext & { readonly state: RequestState },
    token: string,
    act: (token: string) => Promise<boolean>,
    text: string,
  ) => {
    const { address } = ctx.state;
    failures.check(address, "wrong links");
    const isKnown = await act(token);
    if (!isKnown) failures.count(address);
    showPage(ctx, isKnown ? 200 : 404, isKnown ? text : UNKNOWN);
  };
  router.get("unsubscribe", path, async (ctx) => {
    const isKnown = async (token: string) => await readUnsubscribeToken(store, token) !== undefined;
    await answer(ctx, ctx.params.token!, isKnown, ASK);
  });
  router.post(path, async (ctx) => {
    await answer(ctx, ctx.params.token!, (token) => unsubscribe(store, token), DONE);
  });
}

const ASK = `<h1>No more mail?</h1>
<p>You get no more mail from us at this address.</p>
<form method="post"><button>Unsubscribe</button></form>`;
const DONE = `<h1>Done</h1>
<p>You get no more mail from us at this address.</p>`;
const UNKNOWN = `<h1>Unknown link</h1>
<p>This link is not complete, or no longer needed. Open it as it stands in the mail.</p>`;

function showPage(ctx: PageContext, status: number, text: string): void {
  ctx.status = status;
  ctx.type = "text/html; charset=utf-8";
  ctx.set({ "content-security-policy": POLICY, "cache-control": "no-store" });
  ctx.body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>Unsubscribe</title>
<link rel="icon" href="data:,">
<main>
${text}
</main>
</html>
`;
}
