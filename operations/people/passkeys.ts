import { randomBytes } from "node:crypto";
import { z } from "zod";
import { ANSWER_SECONDS, operation, type Site, siteOf, usePasskey } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  PERSON_ACTOR,
  type Registration as RegistrationFields,
} from "../../contract/domain/mod.ts";
import { NODE_PRIMITIVES, randomHex, requestSeal } from "../../ledger/mod.ts";
import { ALGORITHMS, PasskeyError, verifyRegistration } from "../../ledger/passkeys/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  findPasskey,
  hadPasskey,
  listPasskeys,
  newChallengeId,
  type PasskeyRecord,
  putChallenge,
  putPasskey,
  revokePasskey,
  takeChallenge,
} from "../../store/people/mod.ts";
import {
  Assertion,
  ChallengeId,
  exampleAssertion,
  PasskeyAnswer,
  Registration,
  Timestamp,
} from "../schemas/mod.ts";

/** Purposes of a challenge about passkeys, and no approval. */
const ABOUT = "passkeys";

const PasskeyId = z.string().regex(/^PKY-[0-9a-f]{12}$/, "Expected PKY- and 12 hex characters")
  .describe("Id of the passkey, such as PKY-5b1e09c77a42");
const PasskeyInfo = z.object({
  passkey_id: PasskeyId,
  name: z.string(),
  enrolled_at: Timestamp,
  last_used_at: Timestamp.nullable(),
  receipt_id: z.string().describe("Receipt of the enrolment"),
});
const examplePasskey = {
  passkey_id: "PKY-5b1e09c77a42",
  name: "Ada's phone",
  enrolled_at: "2026-07-01T12:00:00.000Z",
  last_used_at: null,
  receipt_id: "9f2c4b7a01d3e856",
};

/** A person's passkeys. */
export const passkeyList = operation({
  name: "people.passkeys",
  group: "console",
  extension: true,
  summary: "List your passkeys, oldest first",
  effect: "read",
  access: "session",
  input: z.object({}),
  output: z.object({ passkeys: z.array(PasskeyInfo) }),
  rest: { people_passkeys: "GET /v1/console/passkeys" },
  example: { input: {}, output: { passkeys: [examplePasskey] } },
  run: async (_input, { caller, store }) => ({
    passkeys: (await listPasskeys(store.db, caller.principal)).map(toInfo),
  }),
});

/** Gives a challenge. */
export const passkeyChallenge = operation({
  name: "people.passkey_challenge",
  group: "console",
  extension: true,
  summary: "Get a challenge to enrol or revoke a passkey",
  effect: "read",
  access: "session",
  input: z.object({}),
  output: z.object({
    challenge_id: ChallengeId,
    challenge: z.string().describe("Base64url"),
    rp_id: z.string().describe("Domain that the passkey is for"),
    user_id: z.string().describe("Base64url: names the person to authenticators"),
    user_name: z.string(),
    algorithms: z.array(z.number().int()).describe("As COSE numbers them, the preferred one first"),
    credentials: z.array(z.string()).describe(
      "Those of the passkeys that the person has, base64url",
    ),
  }),
  rest: { people_passkey_challenge: "POST /v1/console/passkeys/challenge" },
  presentation: { errors: ["NotConfigured"] },
  example: {
    input: {},
    output: {
      challenge_id: "00112233445566778899aabbccddeeff",
      challenge: "3q2-7wAA",
      rp_id: "localhost",
      user_id: "3q2-7wAA",
      user_name: "Ada",
      algorithms: [-7, -8, -257],
      credentials: ["q3mVx0GkT8Wm2bE1yRzN5A"],
    },
  },
  async run(_input, { caller, store, urls }) {
    const { rpId } = siteOf({ urls });
    const id = newChallengeId();
    const challenge = randomBytes(32).toString("base64url");
    const sessionId = caller.session!.id;
    await putChallenge(
      store.db,
      { id, sessionId, about: ABOUT, challenge, statement: null },
      ANSWER_SECONDS,
    );
    const name = new TextEncoder().encode(`${caller.tenant}\n${caller.principal}`);
    const passkeys = await listPasskeys(store.db, caller.principal);
    return {
      challenge_id: id,
      challenge,
      rp_id: rpId,
      user_id: Buffer.from(NODE_PRIMITIVES.sha256(name), "hex").toString("base64url"),
      user_name: caller.principal,
      algorithms: [...ALGORITHMS],
      credentials: passkeys.map(({ credential_id }) => credential_id),
    };
  },
});

/** Enrols a passkey. */
export const enrolPasskey = operation({
  name: "people.enrol_passkey",
  group: "console",
  extension: true,
  summary: "Enrol a passkey",
  description:
    "The first one takes the session alone; each further one takes the answer of one that the person has, to the same " +
    "challenge. Whoever has lost all of them asks the operator: `npm run console -- --recover` prints a link after which " +
    "a new one can be enrolled. Have two, on two devices.",
  effect: "write",
  access: "session",
  input: z.object({
    challenge_id: ChallengeId,
    name: z.string().trim().min(1).max(100).describe("What to call it, such as the device"),
    registration: Registration.describe("The browser's answer about the new credential"),
    confirmation: Assertion.optional().describe("Answer of a passkey that the person has"),
  }),
  output: PasskeyInfo,
  rest: { people_enrol_passkey: "POST /v1/console/passkeys" },
  presentation: { status: 201, errors: ["Conflict", "Forbidden", "NotConfigured"] },
  governance: { rule: "key-decides", humanControl: true, unnamed: true },
  durability: { commits: true },
  example: {
    input: {
      challenge_id: "00112233445566778899aabbccddeeff",
      name: "Ada's phone",
      registration: {
        credential_id: exampleAssertion.credential_id,
        client_data: exampleAssertion.client_data,
        authenticator_data: exampleAssertion.authenticator_data,
      },
    },
    output: examplePasskey,
  },
  run: async ({ challenge_id, name, registration, confirmation }, context) =>
    await context.commit(async (trx) => {
      const { caller } = context;
      const { principal, session } = caller;
      const challenge = await takenChallenge(trx, challenge_id, session!.id);
      const site = siteOf(context);
      if (confirmation) {
        await usePasskey(trx, caller, confirmation, { ...site, challenge });
      } else if (!session!.recovers && await hadPasskey(trx, principal)) {
        throw new Problem(
          "Forbidden",
          "You have had a passkey, and another one takes its answer; if it is lost, ask your operator for a recovery link",
        );
      }
      const passkey = verified(registration, { ...site, challenge });
      if (await findPasskey(trx, passkey.credential_id)) {
        throw new Problem("Conflict", "This passkey is enrolled already");
      }
      const id = `PKY-${randomHex(12)}`;
      const receipt = await requestSeal(trx, {
        category: "passkey_enrolled",
        actor: PERSON_ACTOR,
        subject: "passkey",
        action: "people.enrol_passkey",
        outcome: "success",
        details: { confirmed: confirmation !== undefined, recovered: session!.recovers },
        evidence: {
          passkey: {
            passkey_id: id,
            key_id: caller.keyId,
            principal,
            name,
            credential_id: passkey.credential_id,
            public_key: passkey.public_key,
          },
        },
      });
      const { count: uses, ...credential } = passkey;
      await putPasskey(trx, { ...credential, id, principal, name, uses, receiptId: receipt.id });
      const passkeys = await listPasskeys(trx, principal);
      return toInfo(passkeys.find((one) => one.id === id)!);
    }),
});

/** Revokes a passkey. */
export const revokeOwnPasskey = operation({
  name: "people.revoke_passkey",
  group: "console",
  extension: true,
  summary: "Revoke a passkey of yours for good",
  description:
    "Takes the answer of a passkey of yours, which may be the same one. What it has signed before stays valid.",
  effect: "write",
  access: "session",
  input: z.object({ passkey_id: PasskeyId, confirmation: PasskeyAnswer }),
  output: z.object({ passkey_id: PasskeyId, revoked: z.literal(true) }),
  rest: { people_revoke_passkey: "POST /v1/console/passkeys/{passkey_id}/revoke" },
  presentation: { errors: ["NotFound", "Conflict", "Forbidden", "NotConfigured"] },
  governance: { rule: "key-decides", humanControl: true, unnamed: true },
  durability: { commits: true },
  example: {
    input: {
      passkey_id: examplePasskey.passkey_id,
      confirmation: {
        challenge_id: "00112233445566778899aabbccddeeff",
        assertion: exampleAssertion,
      },
    },
    output: { passkey_id: examplePasskey.passkey_id, revoked: true },
  },
  run: async ({ passkey_id, confirmation: { challenge_id, assertion } }, context) =>
    await context.commit(async (trx) => {
      const { principal, session, keyId } = context.caller;
      const challenge = await takenChallenge(trx, challenge_id, session!.id);
      await usePasskey(trx, context.caller, assertion, { ...siteOf(context), challenge });
      if (!await revokePasskey(trx, passkey_id, principal)) {
        throw new Problem("NotFound", `You have no valid passkey ${passkey_id}`);
      }
      await requestSeal(trx, {
        category: "passkey_revoked",
        actor: PERSON_ACTOR,
        subject: "passkey",
        action: "people.revoke_passkey",
        outcome: "success",
        evidence: { passkey: { passkey_id, key_id: keyId, principal } },
      });
      return { passkey_id, revoked: true as const };
    }),
});

/** @throws {Problem} `Conflict` */
async function takenChallenge(trx: Db, id: string, sessionId: string): Promise<string> {
  const given = await takeChallenge(trx, id, sessionId);
  if (given?.about === ABOUT) return given.challenge;
  throw new Problem("Conflict", "This was answered already, or too late: begin again");
}

/** @throws {Problem} `Forbidden` */
function verified(
  registration: RegistrationFields,
  expected: Site & { readonly challenge: string },
) {
  try {
    return verifyRegistration(NODE_PRIMITIVES, registration, expected);
  } catch (error) {
    throw error instanceof PasskeyError ? new Problem("Forbidden", error.message) : error;
  }
}

function toInfo({ id, name, enrolledAt, lastUsedAt, receiptId }: PasskeyRecord) {
  return {
    passkey_id: id,
    name,
    enrolled_at: enrolledAt.toISOString(),
    last_used_at: lastUsedAt?.toISOString() ?? null,
    receipt_id: receiptId,
  };
}
