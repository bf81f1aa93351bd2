import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { OidcUnreachable } from "../../integrations/oidc/mod.ts";
import { findIdToken } from "../../store/people/mod.ts";

/** Page that the provider sends browsers to once it has signed them out. */
const SIGNED_OUT_PATH = "/console/sign-in";

/** Tells where the provider signs somebody out. It has a session of its own, which would sign them in again. */
export const providerSignOut = operation({
  name: "people.provider_sign_out",
  group: "console",
  extension: true,
  summary: "Tell where the identity provider ends its own session",
  description:
    "The console asks for it, ends its session, and sends the browser there. The provider sends the browser back to " +
    "`/console/sign-in`, which has to be registered there as a post-logout redirect URI.",
  effect: "read",
  access: "session",
  input: z.object({}),
  output: z.object({
    url: z.string().nullable().describe(
      "null: the person has signed in by a link, or the provider offers none or is away",
    ),
  }),
  rest: { people_provider_sign_out: "GET /v1/console/session/provider" },
  example: { input: {}, output: { url: "https://id.example/logout?id_token_hint=…" } },
  async run(_input, { caller, store, urls, outside: { oidc } }) {
    const idToken = oidc && await findIdToken(store.db, caller.session!.id);
    if (!idToken) return { url: null };
    try {
      return { url: await oidc.signOutUrl(idToken, urls.gateway + SIGNED_OUT_PATH) ?? null };
    } catch (error) {
      if (error instanceof OidcUnreachable) return { url: null };
      throw error;
    }
  },
});
