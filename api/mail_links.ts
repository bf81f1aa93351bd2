import type Router from "@koa/router";
import {
  confirmConsent,
  MAIL_LINKS,
  type MailLink,
  readMailLink,
  unsubscribe,
} from "../operations/mail/sending/mod.ts";
import type { Platform } from "../calls/mod.ts";
import type { Store } from "../store/mod.ts";
import type { RequestState } from "../runtime/web/mod.ts";

/** The part of a request that a page is shown for. */
interface PageContext {
  type: string;
  status: number;
  body: unknown;
  set(fields: Record<string, string>): void;
}

/** The pages of a link, and its act. */
interface LinkPages {
  readonly title: string;
  readonly ask: string;
  readonly done: string;
  act(store: Store, token: string): Promise<boolean>;
}

const POLICY =
  "default-src 'none'; img-src data:; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";
const PAGES: Readonly<Record<MailLink, LinkPages>> = {
  unsubscribe: {
    title: "Unsubscribe",
    ask: `<h1>No more mail?</h1>
<p>You get no more mail from us at this address.</p>
<form method="post"><button>Unsubscribe</button></form>`,
    done: `<h1>Done</h1>
<p>You get no more mail from us at this address.</p>`,
    act: unsubscribe,
  },
  confirm: {
    title: "Confirm your address",
    ask: `<h1>May we mail you?</h1>
<p>Somebody has entered this address in a form of ours. If that was you, and you want to get mail from us, confirm it. You can take it back at any time.</p>
<form method="post"><button>Confirm</button></form>`,
    done: `<h1>Thank you</h1>
<p>Your address is confirmed. Each mail from us has a link by which you get no more.</p>`,
    act: confirmConsent,
  },
};
const UNKNOWN = `<h1>Unknown link</h1>
<p>This link is not complete, or no longer needed. Open it as it stands in the mail.</p>`;

/**
 * Binds the links by which recipients of mail opt out or in. Opening one shows a page with a button, since programs that
 * scan mail open links; the button, and mail programs by themselves where they opt out (RFC 8058), act by POST. There is no
 * login: whoever has the link was sent the mail.
 */
export function bindMailLinks(
  router: Router<RequestState>,
  { store, failures }: Pick<Platform, "store" | "failures">,
): void {
  for (const [name, pages] of Object.entries(PAGES)) {
    const link = name as MailLink;
    const path = `${MAIL_LINKS[link]}:token`;
    const answer = async (
      ctx: PageContext & { readonly state: RequestState },
      act: () => Promise<boolean>,
      text: string,
    ) => {
      const { address } = ctx.state;
      failures.check(address, "wrong links");
      const isKnown = await act();
      if (!isKnown) failures.count(address);
      showPage(ctx, isKnown ? 200 : 404, pages.title, isKnown ? text : UNKNOWN);
    };
    router.get(link, path, async (ctx) => {
      const isKnown = async () => await readMailLink(store, link, ctx.params.token!) !== undefined;
      await answer(ctx, isKnown, pages.ask);
    });
    router.post(path, async (ctx) => {
      await answer(ctx, () => pages.act(store, ctx.params.token!), pages.done);
    });
  }
}

function showPage(ctx: PageContext, status: number, title: string, text: string): void {
  ctx.status = status;
  ctx.type = "text/html; charset=utf-8";
  ctx.set({
    "content-security-policy": POLICY,
    "cache-control": "no-store",
    "referrer-policy": "same-origin", // with none, the form would be sent with `Origin: null`, which is refused
  });
  ctx.body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="robots" content="noindex">
<title>${title}</title>
<link rel="icon" href="data:,">
<main>
${text}
</main>
</html>
`;
}
