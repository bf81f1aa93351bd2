/** Making and revoking standing grants. */
import { unknownRecord } from "../unknown_record.ts";
import { randomBytes } from "node:crypto";
import { Problem } from "../../contract/mod.ts";
import {
  type GrantStatement,
  type GrantTerms,
  type PasskeyAnswer,
  PERSON_ACTOR,
} from "../../contract/domain/mod.ts";
import { groundsOf } from "../../contract/records/mod.ts";
import { canonicalize, NODE_PRIMITIVES, randomHex, requestSeal } from "../../ledger/mod.ts";
import { challengeOf, grantStatementOf } from "../../ledger/passkeys/mod.ts";
import { commitTo, type Db } from "../../store/mod.ts";
import { getGrant, type GrantRecord, putGrant, revokeGrant } from "../../store/grants/mod.ts";
import {
  getChallenge,
  newChallengeId,
  putChallenge,
  takeChallenge,
} from "../../store/people/mod.ts";
import { bindAction, openApproval, useOwnPasskey } from "../approvals/mod.ts";
import { ANSWER_SECONDS } from "../passkeys.ts";
import type { Context } from "../platform.ts";
import { actionOfGrant, grantTermsOf, type GrantWish } from "./terms.ts";

/** Purpose of a challenge about a grant. */
const ABOUT = "grant";

/** A statement about a grant that a session is given to sign. */
interface ProposedGrant {
  /** Of the challenge. */
  readonly id: string;
  readonly challenge: string;
  readonly terms: GrantTerms;
  readonly statement: GrantStatement;
}

/** Gives the caller's session a grant to sign. @throws {Problem} `NotFound`, `Forbidden`, `Conflict`: why there can be none */
export async function proposeGrant(
  context: Pick<Context, "store" | "caller" | "operations">,
  wish: GrantWish,
): Promise<ProposedGrant> {
  const terms = await grantTermsOf(context, wish);
  const id = newChallengeId();
  const statement = grantStatementOf(NODE_PRIMITIVES, terms, id);
  const challenge = challengeOf(NODE_PRIMITIVES, statement);
  const { store: { db }, caller: { session } } = context;
  const kept = { terms, statement };
  await putChallenge(
    db,
    { id, sessionId: session!.id, about: ABOUT, challenge, statement: kept },
    ANSWER_SECONDS,
  );
  return { id, challenge, terms, statement };
}

/**
 * Makes the grant that the caller's session was given to sign. Where it takes more people, they are asked, and it allows
 * nothing until they have approved it.
 *
 * @throws {Problem} `Forbidden`, `Conflict`: the answer does not count
 */
export async function makeGrant(
  context: Context,
  { challenge_id, assertion }: PasskeyAnswer,
): Promise<GrantRecord> {
  const { store: { db }, caller, config: { settings } } = context;
  const approvalId = `APR-${randomBytes(6).toString("hex")}`;
  let grantId = "";
  const storeGrant = async (trx: Db, terms: GrantTerms, asks: boolean) => {
    const given = await takeChallenge(trx, challenge_id, caller.session!.id);
    if (given?.about !== ABOUT || !given.statement) throw tooLate();
    const { statement } = given.statement as unknown as ProposedGrant;
    const signed = {
      statement,
      ...await useOwnPasskey(context, trx, assertion, given.challenge),
    };
    const { commitment, salt } = commitTo(canonicalize(terms));
    const { id: receiptId } = await requestSeal(trx, {
      category: "grant",
      actor: PERSON_ACTOR,
      subject: terms.grant_id,
      action: "grant.made",
      outcome: asks ? "pending" : "granted",
      details: {
        grant_id: terms.grant_id,
        terms_commitment: commitment,
        acts: terms.acts.length,
        max_uses: terms.max_uses,
        expires_at: terms.expires_at,
        needed: terms.needed,
        signed_with: "passkey",
        ...(asks ? { approval_id: approvalId } : {}),
      },
      evidence: {
        terms,
        salt: salt.toString("hex"),
        statement: signed,
        caller: { key_id: caller.keyId, principal: caller.principal },
      },
    });
    grantId = terms.grant_id;
    await putGrant(trx, {
      id: terms.grant_id,
      terms,
      signed,
      madeByKey: caller.keyId!,
      approvalId: asks ? approvalId : null,
      receiptId,
    });
  };
  const terms = await proposedTerms(db, challenge_id, caller.session!.id);
  if (terms.needed === 1) await db.transaction((trx) => storeGrant(trx, terms, false));
  else {
    const action = actionOfGrant(terms);
    await openApproval(
      context,
      {
        id: approvalId,
        subject: terms.grant_id,
        ticketId: null,
        description: `Let run without asking: ${terms.acts.map(({ what }) => what).join(", ")}`,
        ...bindAction(action, canonicalize(action)),
        grounds: groundsOf({
          rule: "standing-grant",
          reasons: [`A standing grant of this takes ${terms.needed} people`],
          passkey: true,
        }),
        requestedBy: caller.principal,
        requestedByKey: caller.keyId,
        needed: terms.needed - 1,
        expiresInSeconds: settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
        escalateAfterSeconds: settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
        askingRun: null,
      },
      (trx) => storeGrant(trx, terms, true),
      false,
    );
  }
  return (await getGrant(db, grantId))!;
}

/** Revokes a grant, for good and at once. @throws {Problem} `NotFound`; `Conflict`: it was revoked before */
export async function endGrant(
  { caller }: Pick<Context, "caller">,
  trx: Db,
  id: string,
): Promise<GrantRecord> {
  if (!await getGrant(trx, id)) throw await unknownRecord(trx, "grant", id);
  if (!await revokeGrant(trx, id, caller.principal)) {
    throw new Problem("Conflict", `${id} was revoked before`);
  }
  await requestSeal(trx, {
    id: randomHex(16),
    category: "grant",
    actor: PERSON_ACTOR,
    subject: id,
    action: "grant.revoked",
    outcome: "revoked",
    details: { grant_id: id },
    evidence: { caller: { key_id: caller.keyId, principal: caller.principal } },
  });
  return (await getGrant(trx, id))!;
}

/** Returns the terms that a session was given, and leaves them to be taken. @throws {Problem} `Conflict` */
async function proposedTerms(db: Db, id: string, sessionId: string): Promise<GrantTerms> {
  const given = await getChallenge(db, id, sessionId);
  if (given?.about !== ABOUT || !given.statement) throw tooLate();
  return (given.statement as unknown as ProposedGrant).terms;
}

function tooLate(): Problem {
  return new Problem("Conflict", "This was answered already, or too late: look again, and decide");
}
