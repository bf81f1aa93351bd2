import type {
  ApprovalStatement,
  Assertion,
  PasskeyAnswer,
  SignedStatement,
} from "../../contract/domain/mod.ts";
import { Problem } from "../../contract/mod.ts";
import { ApprovalGrounds } from "../../contract/records/mod.ts";
import { NODE_PRIMITIVES } from "../../ledger/mod.ts";
import {
  challengeOf,
  PasskeyError,
  type ShownApproval,
  signedChallenge,
  statementOf,
} from "../../ledger/passkeys/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type ApprovalRecord,
  countReopenings,
  type VoteRecord,
} from "../../store/approvals/mod.ts";
import type { KeyRecord } from "../../store/keys/mod.ts";
import { newChallengeId, putChallenge, takeChallenge } from "../../store/people/mod.ts";
import { ANSWER_SECONDS, siteOf, usePasskey, verifyPasskey } from "../passkeys.ts";
import type { Context, Platform } from "../platform.ts";
import { passkeyRefusal } from "./rights.ts";

/** Gives a session a statement to sign about an approval as it stands. */
export async function proposeStatement(
  { store }: Pick<Platform, "store">,
  approval: ApprovalRecord,
  sessionId: string,
): Promise<
  { readonly id: string; readonly challenge: string; readonly statement: ApprovalStatement }
> {
  const id = newChallengeId();
  const statement = await statementAbout(store.db, approval, id);
  const challenge = challengeOf(NODE_PRIMITIVES, statement);
  const about = approval.id;
  await putChallenge(
    store.db,
    { id, sessionId, about, challenge, statement: { ...statement } },
    ANSWER_SECONDS,
  );
  return { id, challenge, statement };
}

/**
 * Takes the caller's answer about an approval: what was given to their session, signed by a passkey of theirs, about the
 * approval as it stands. Nobody can give it again.
 *
 * @throws {Problem} `Forbidden`, `Conflict`: why it does not count
 */
export async function takeStatement(
  { caller, urls }: Context,
  trx: Db,
  approval: ApprovalRecord,
  { challenge_id, assertion }: PasskeyAnswer,
): Promise<SignedStatement> {
  const given = await takeChallenge(trx, challenge_id, caller.session!.id);
  if (given?.about !== approval.id || !given.statement) {
    throw new Problem("Conflict", "This was answered already, or too late: look again, and decide");
  }
  const statement = given.statement as unknown as ApprovalStatement;
  const current = await statementAbout(trx, approval, challenge_id);
  const challenge = challengeOf(NODE_PRIMITIVES, current);
  if (challenge !== given.challenge) {
    throw changedSince(approval);
  }
  return { statement, ...await useOwnPasskey({ caller, urls }, trx, assertion, challenge) };
}

/** Uses a passkey of the caller's on a challenge. @throws {Problem} `Forbidden`: why its answer does not count */
export async function useOwnPasskey(
  { caller, urls }: Pick<Context, "caller" | "urls">,
  trx: Db,
  assertion: Assertion,
  challenge: string,
): Promise<Omit<SignedStatement, "statement" | "list">> {
  const site = siteOf({ urls });
  const passkey = await usePasskey(trx, caller, assertion, { ...site, challenge });
  const { id: passkey_id, public_key, receiptId: enrolment } = passkey;
  const { rpId: rp_id, origins: [origin] } = site;
  return { passkey_id, public_key, enrolment, assertion, rp_id, origin: origin! };
}

/** Returns why a vote's signed statement does not count; undefined: it does, or the vote came by a key alone, which does. */
export async function statementRefusal(
  trx: Db,
  approval: ApprovalRecord,
  { move, statement: signed }: VoteRecord,
  key: KeyRecord,
): Promise<Problem | undefined> {
  if (!signed) return move === "approved" ? passkeyRefusal(approval) : undefined;
  const { statement: { nonce }, list, assertion, rp_id: rpId, origin } = signed;
  const statement = await statementAbout(trx, approval, nonce);
  try {
    const challenge = signedChallenge(NODE_PRIMITIVES, { statement, ...(list ? { list } : {}) });
    await verifyPasskey(trx, key, assertion, { challenge, rpId, origins: [origin] });
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    if (error instanceof PasskeyError) return changedSince(approval);
    throw error;
  }
}

/** Returns the refusal of what was signed about an approval that is another one by now. */
export function changedSince({ id }: Pick<ApprovalRecord, "id">): Problem {
  return new Problem("Conflict", `${id} has changed since you looked: look again, and decide`);
}

/** Returns the statement about an approval as it stands. */
export async function statementAbout(
  db: Db,
  approval: ApprovalRecord,
  nonce: string,
): Promise<ApprovalStatement> {
  const cycle = await countReopenings(db, approval.id);
  const stated = {
    ...shownFields(approval),
    action: approval.action,
    action_commitment: approval.actionCommitment,
  };
  return statementOf(NODE_PRIMITIVES, stated, { cycle, nonce });
}

/** Returns the fields of an approval that people are shown besides its action, as they are stored. */
export function shownFields(approval: ApprovalRecord): Omit<ShownApproval, "action"> {
  const { rule, reasons, reaches, evidence, passkey } = ApprovalGrounds.parse(approval.grounds);
  return {
    approval_id: approval.id,
    subject: approval.subject,
    description: approval.description,
    rule,
    reasons,
    reaches,
    evidence,
    requested_by: approval.requestedBy,
    tenant_id: approval.tenant,
    needed: approval.needed,
    passkey,
  };
}
