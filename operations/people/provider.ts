import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import type { Context } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  type OidcClient,
  type OidcIdentity,
  OidcRefused,
  OidcUnreachable,
} from "../../integrations/oidc/mod.ts";
import { findValidKeys } from "../../store/keys/mod.ts";
import { holdPolicies } from "../../store/calls/mod.ts";
import { putProviderSignIn, takeProviderSignIn } from "../../store/people/mod.ts";
import { admitPerson, type Newcomer } from "./keys_of_people.ts";
import { groupsOf, type PeopleFile } from "./people_file.ts";
import { currentPeopleFile } from "./people_file_in_force.ts";
import { examplePerson, openSession, Person } from "./session.ts";

/** Seconds that a browser has to come back from the provider. */
const SIGN_IN_SECONDS = 600;
/** Page that the provider sends browsers back to. */
const RETURN_PATH = "/console/sign-in/answer";

/** Pages of the console, and nothing else: whoever makes up a link can send nobody elsewhere. */
const ConsolePage = z.string().max(500)
  .regex(/^\/console(\/[\w/-]*)?(\?[\w=&%.+-]*)?$/, "Expected the path of a page of the console")
  .default("/console").describe("Page to show afterwards");

/** How people can sign in. */
export const signInWays = operation({
  name: "people.sign_in_ways",
  group: "console",
  extension: true,
  summary: "Tell how people can sign in",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    provider: z.object({
      issuer: z.string(),
      problem: z.string().nullable().describe("Why nobody can sign in by it now"),
    }).nullable().describe("The identity provider; null: none is set"),
  }),
  rest: { people_sign_in_ways: "GET /v1/console/sign-in" },
  governance: { limits: { counted: false, perMinute: "sign_in" } },
  example: {
    input: {},
    output: { provider: { issuer: "https://id.example", problem: null } },
  },
  async run(_input, { outside: { oidc } }) {
    if (!oidc) return { provider: null };
    const problem = await oidc.discover().then(() => null, (error: Error) => error.message);
    return { provider: { issuer: oidc.issuer, problem } };
  },
});

/** Begins to sign in by the provider. */
export const beginSignIn = operation({
  name: "people.begin_sign_in",
  group: "console",
  extension: true,
  summary: "Begin to sign in by the identity provider",
  description:
    "The answer's cookie binds the sign-in to this browser, for ten minutes; the provider's answer is taken from no other.",
  effect: "read",
  access: "public",
  input: z.object({ page: ConsolePage }),
  output: z.object({
    url: z.string().describe("Address of the provider to go to"),
    sign_in: z.string().optional().describe("In the cookie alone"),
  }),
  rest: { people_begin_sign_in: "POST /v1/console/sign-in" },
  governance: { limits: { counted: false, perMinute: "sign_in" } },
  presentation: { signIn: "begins", errors: ["NotConfigured", "Unavailable"] },
  example: {
    input: { page: "/console" },
    output: { url: "https://id.example/authorize?response_type=code&state=…" },
  },
  async run({ page }, { outside: { oidc }, store, urls }) {
    const provider = requireProvider(oidc);
    const { url, ...expected } = await tellFailures(() =>
      provider.begin(urls.gateway + RETURN_PATH)
    );
    const secret = await putProviderSignIn(
      store.asPlatform(),
      { ...expected, page },
      SIGN_IN_SECONDS,
    );
    return { url, sign_in: secret };
  },
});

/** Ends it: takes the provider's answer. */
export const endSignIn = operation({
  name: "people.end_sign_in",
  group: "console",
  extension: true,
  summary: "Sign in by the identity provider's answer",
  description:
    "The page that the provider sends the browser back to calls this. What the person may do is what the people file gives " +
    "their groups or them; whom it gives nothing may not sign in.",
  effect: "write",
  access: "public",
  input: z.object({
    answer: z.string().min(1).max(8_000).describe("The query of the page's address, without ?"),
  }),
  output: Person.extend({
    page: z.string().describe("Page of the console that the person was headed for"),
    session: z.string().optional().describe("In the cookie alone"),
  }),
  rest: { people_end_sign_in: "POST /v1/console/sign-in/answer" },
  presentation: {
    session: "opens",
    signIn: "ends",
    shownOnce: ["session"],
    errors: ["Unauthenticated", "Forbidden", "NotConfigured", "Unavailable"],
  },
  governance: {
    rule: "key-decides",
    humanControl: true,
    unnamed: true,
    limits: { counted: false, perMinute: "sign_in" },
  },
  durability: { sealsItself: true },
  example: {
    input: { answer: "code=…&state=…" },
    output: { ...examplePerson, page: "/console" },
  },
  async run({ answer }, context) {
    const { outside: { oidc }, store, signIn, failures, caller: { address } } = context;
    const provider = requireProvider(oidc);
    const begun = signIn && await takeProviderSignIn(store.asPlatform(), signIn);
    if (!begun) {
      failures.check(address, "wrong answers");
      failures.count(address);
      throw new Problem(
        "Unauthenticated",
        "This browser has not begun to sign in, has done so already, or took longer than ten minutes: begin again",
      );
    }
    const file = await requireFile(context);
    const identity = await tellFailures(() =>
      provider.finish(context.urls.gateway + RETURN_PATH, answer, begun, file.groups_claim)
    );
    const keyId = await admit(context, provider.issuer, identity);
    const { session, ...person } = await openSession(
      context,
      { keyId, recovers: false, idToken: identity.idToken },
      "provider",
    );
    return { ...person, page: begun.page, session };
  },
});

/** Returns the id of a person's valid key. @throws {Problem} `Forbidden`: they may not sign in */
async function admit(
  context: Context,
  issuer: string,
  { subject, claims }: OidcIdentity,
): Promise<string> {
  const db = context.store.asPlatform();
  const { keyId, newcomer } = await db.transaction(async (trx) => {
    await holdPolicies(trx);
    const file = await requireFile(context);
    const newcomer: Newcomer = {
      issuer,
      subject,
      groups: groupsOf(file, claims),
      names: namesOf(claims),
    };
    return { keyId: await admitPerson(trx, file, newcomer), newcomer };
  });
  if (keyId === undefined) throw mayNot(newcomer);
  if ((await findValidKeys(db, [keyId])).length > 0) return keyId;
  throw new Problem("Forbidden", `Your key ${keyId} was revoked, so you may not sign in`);
}

function mayNot({ subject, groups }: Newcomer): Problem {
  const listed = groups.slice(0, 20).map((group) => JSON.stringify(group)).join(", ");
  return new Problem(
    "Forbidden",
    `You may not sign in: the people file gives nothing to you (subject ${
      JSON.stringify(subject)
    })` +
      (listed
        ? `, nor to any of your groups (${listed})`
        : "; the provider names no group of yours") +
      ". Ask your operator",
  );
}

/** @throws {Problem} `NotConfigured` */
function requireProvider(oidc: OidcClient | undefined): OidcClient {
  if (oidc) return oidc;
  throw new Problem(
    "NotConfigured",
    "No identity provider is set (SEALOOP_OIDC_ISSUER): sign in by a link, which `npm run console` prints",
  );
}

/** @throws {Problem} `NotConfigured` */
async function requireFile({ store }: Pick<Context, "store">): Promise<PeopleFile> {
  const file = await currentPeopleFile(store.asPlatform());
  if (file) return file;
  throw new Problem(
    "NotConfigured",
    "There is no people file yet, which says who may sign in: docs/console.md has an example",
  );
}

/** @throws {Problem} `Unauthenticated`: the provider's answer does not count; `Unavailable`: it can't be reached */
async function tellFailures<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (cause) {
    if (cause instanceof OidcUnreachable) {
      throw new Problem("Unavailable", `${cause.message}; a link from your operator signs you in`, {
        cause,
      });
    }
    if (cause instanceof OidcRefused) {
      throw new Problem("Unauthenticated", `${cause.message}. Begin again`, { cause });
    }
    throw cause;
  }
}

/** Returns the names of a person, those first that providers let nobody choose freely. */
function namesOf(claims: OidcIdentity["claims"]): string[] {
  const email = claims.email_verified === true ? claims.email : undefined;
  return [claims.preferred_username, email, claims.name].filter((one) => typeof one === "string");
}
