import { z } from "zod";
import { type Context, operation } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { PERSON_ACTOR } from "../../contract/domain/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import { findValidKeys, touchKeys } from "../../store/keys/mod.ts";
import { endSession, listPasskeys, putSession, takeSignInLink } from "../../store/people/mod.ts";
import { Timestamp } from "../schemas/mod.ts";

/** Longest time of a session. Its key may end before. */
const SESSION_SECONDS = 12 * 3_600;

/** Somebody who has signed in. */
export const Person = z.object({
  principal: z.string().describe("The person, as their key names them"),
  tenant_id: z.string(),
  rights: z.array(z.enum(["read", "respond", "approve", "operate"])).describe(
    "respond: take, close and stop; approve: with a passkey; operate: what takes a key of tier admin",
  ),
  passkeys: z.number().int().describe("How many passkeys they have; 0: they can't approve yet"),
  expires_at: Timestamp.describe("When the session ends"),
});

/** An example of them. */
export const examplePerson = {
  principal: "Ada",
  tenant_id: "platform",
  rights: ["read" as const, "respond" as const, "approve" as const, "operate" as const],
  passkeys: 1,
  expires_at: "2026-07-02T00:00:00.000Z",
};

/** Signs in by a link. */
export const signIn = operation({
  name: "people.sign_in",
  group: "console",
  extension: true,
  summary: "Sign in by a link that works once",
  description:
    "`npm start` and `npm run console` print such a link; the page that it opens calls this. The session's secret is in " +
    "the cookie of the answer alone, which only the gateway's own pages may send. A session is never more than the key " +
    "that the link is for, and ends with it, or after 12 hours.",
  effect: "write",
  access: "public",
  input: z.object({
    link: z.string().min(1).max(200).describe("The part of the link after #"),
  }),
  output: Person.extend({ session: z.string().optional().describe("In the cookie alone") }),
  rest: { people_sign_in: "POST /v1/console/session" },
  presentation: { session: "opens", shownOnce: ["session"], errors: ["Unauthenticated"] },
  governance: {
    rule: "key-decides",
    humanControl: true,
    unnamed: true,
    limits: { counted: false, perMinute: "sign_in" },
  },
  durability: { sealsItself: true },
  example: { input: { link: "slp_link_…" }, output: examplePerson },
  async run({ link }, context) {
    const { store, failures, caller } = context;
    const taken = await takeSignInLink(store.asPlatform(), link);
    const [key] = taken ? await findValidKeys(store.asPlatform(), [taken.keyId]) : [];
    if (!taken || !key) {
      failures.check(caller.address, "wrong links");
      failures.count(caller.address);
      throw new Problem(
        "Unauthenticated",
        "This link was used, has expired, or is none: `npm run console` on the platform's machine prints another one",
      );
    }
    return await openSession(context, taken, "link");
  },
});

/**
 * Opens a session of the holder of a valid key, always a new one: what the browser had before ends, whoever gave it that.
 *
 * @param way by which they have signed in
 */
export async function openSession(
  { store, caller }: Pick<Context, "store" | "caller">,
  { keyId, recovers, idToken }: {
    readonly keyId: string;
    readonly recovers: boolean;
    /** Of the identity provider. */
    readonly idToken?: string;
  },
  way: "link" | "provider",
): Promise<z.output<typeof Person> & { readonly session: string }> {
  const [key] = await findValidKeys(store.asPlatform(), [keyId]);
  if (!key) throw new Problem("Unauthenticated", "Your key has ended: ask your operator");
  const { session: before } = caller;
  if (before) await endSession(store.asTenant(caller.tenant), before.id);
  const opened = await store.asTenant(key.tenant).transaction(async (trx) => {
    const { token, id } = await putSession(
      trx,
      { keyId, recovers, ...(idToken ? { idToken } : {}) },
      SESSION_SECONDS,
    );
    await requestSeal(trx, {
      category: "session_opened",
      actor: PERSON_ACTOR,
      subject: "session",
      action: "people.sign_in",
      outcome: "success",
      details: { recovers, way },
      evidence: { caller: { key_id: key.id, principal: key.principal }, session: id },
    });
    return token;
  });
  await touchKeys(store.asPlatform(), new Map([[keyId, new Date()]]));
  const expiresAt = new Date(Date.now() + SESSION_SECONDS * 1_000);
  const person = { ...key, session: { expiresAt, mayApprove: key.mayApprove } };
  return { ...await toPerson(store.forTenant(key.tenant), person), session: opened };
}

/** Who has signed in. */
export const sessionInfo = operation({
  name: "people.session",
  group: "console",
  extension: true,
  summary: "Tell who has signed in, and what they may do",
  effect: "read",
  access: "session",
  input: z.object({}),
  output: Person,
  rest: { people_session: "GET /v1/console/session" },
  example: { input: {}, output: examplePerson },
  run: async (_input, { caller, store }) =>
    await toPerson(store, { ...caller, session: caller.session! }),
});

/** Signs out. */
export const signOut = operation({
  name: "people.sign_out",
  group: "console",
  extension: true,
  summary: "Sign out",
  effect: "write",
  access: "session",
  input: z.object({}),
  output: z.object({ signed_out: z.literal(true) }),
  rest: { people_sign_out: "DELETE /v1/console/session" },
  presentation: { session: "ends" },
  governance: { rule: "key-decides", humanControl: true, unnamed: true },
  durability: { commits: true },
  example: { input: {}, output: { signed_out: true } },
  run: async (_input, { caller, commit }) =>
    await commit(async (trx) => {
      await endSession(trx, caller.session!.id);
      return { signed_out: true as const };
    }),
});

/** The holder of a key who has signed in. */
interface SignedIn {
  readonly principal: string;
  readonly tenant: string;
  readonly tier: string;
  readonly scope: string;
  readonly session: { readonly expiresAt: Date; readonly mayApprove: boolean };
}

async function toPerson(
  { db }: Pick<Context["store"], "db">,
  { principal, tenant, tier, scope, session: { expiresAt, mayApprove } }: SignedIn,
): Promise<z.output<typeof Person>> {
  const responds = scope === "full" && tier !== "free";
  return {
    principal,
    tenant_id: tenant,
    rights: [
      "read",
      ...(responds ? ["respond" as const] : []),
      ...(responds && mayApprove ? ["approve" as const] : []),
      ...(responds && tier === "admin" ? ["operate" as const] : []),
    ],
    passkeys: (await listPasskeys(db, principal)).length,
    expires_at: expiresAt.toISOString(),
  };
}
