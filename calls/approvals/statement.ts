import type { ApprovalStatement, Assertion, SignedStatement } from "../../contract/domain/mod.ts";
import { escapeInvisible, Problem } from "../../contract/mod.ts";
import { ApprovalGrounds } from "../../contract/records/mod.ts";
import { NODE_PRIMITIVES } from "../../ledger/mod.ts";
import {
  challengeOf,
  type Expected,
  PasskeyError,
  type StatedApproval,
  statementOf,
  verifyAssertion,
} from "../../ledger/passkeys/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  type ApprovalRecord,
  countReopenings,
  type VoteRecord,
} from "../../store/approvals/mod.ts";
import type { KeyRecord } from "../../store/keys/mod.ts";
import {
  findPasskey,
  newChallengeId,
  notePasskeyUse,
  putChallenge,
  takeChallenge,
} from "../../store/people/mod.ts";
import type { Context, Platform } from "../platform.ts";

/** Seconds that a person has to answer. */
const ANSWER_SECONDS = 300;

/** A person's answer to a challenge. */
export interface PasskeyAnswer {
  readonly challenge_id: string;
  readonly assertion: Assertion;
}

/** What passkeys of a gateway's people are for, and the pages that ask for them. */
export type Site = Pick<Expected, "rpId" | "origins">;

/**
 * Returns the site of a gateway, by its public address.
 *
 * @throws {Problem} `NotConfigured`: browsers give passkeys to domains alone, and over TLS unless it is this machine
 */
export function siteOf({ urls }: Pick<Platform, "urls">): Site {
  const { hostname, origin, protocol } = new URL(urls.gateway);
  const isDomain = !/^\[|^[\d.]+$/.test(hostname);
  if (!isDomain || protocol !== "https:" && hostname !== "localhost") {
    throw new Problem(
      "NotConfigured",
      `Passkeys need a domain with TLS, or localhost, and the gateway's address is ${urls.gateway}; ` +
        "set SEALOOP_GATEWAY_URL to the address that browsers use",
    );
  }
  return { rpId: hostname, origins: [origin] };
}

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
    throw new Problem(
      "Conflict",
      `${approval.id} has changed since you looked: look again, and decide`,
    );
  }
  const site = siteOf({ urls });
  const passkey = await findPasskey(trx, assertion.credential_id);
  const signed: SignedStatement = {
    passkey_id: passkey?.id ?? "",
    statement,
    assertion,
    rp_id: site.rpId,
    origin: site.origins[0]!,
  };
  const uses = await verifySigned(trx, signed, caller, challenge);
  if (uses instanceof Problem) throw uses;
  if (!await notePasskeyUse(trx, assertion.credential_id, uses)) {
    throw new Problem(
      "Forbidden",
      "Your passkey says that it was used less often than before, so that somebody may have a copy: " +
        "revoke it, and enrol another one",
    );
  }
  return signed;
}

/** Returns why a vote's signed statement does not count; undefined: it does, or the vote came by a key alone. */
export async function statementRefusal(
  trx: Db,
  approval: ApprovalRecord,
  { statement: signed }: VoteRecord,
  key: KeyRecord,
): Promise<Problem | undefined> {
  if (!signed) return undefined;
  const current = await statementAbout(trx, approval, signed.statement.nonce);
  const challenge = challengeOf(NODE_PRIMITIVES, current);
  const result = await verifySigned(trx, signed, key, challenge);
  return result instanceof Problem ? result : undefined;
}

/** Returns the uses that a person's passkey counts, or why what it has signed does not count. */
async function verifySigned(
  trx: Db,
  { assertion, rp_id, origin }: SignedStatement,
  { tenant, principal }: Pick<KeyRecord, "tenant" | "principal">,
  challenge: string,
): Promise<number | Problem> {
  const passkey = await findPasskey(trx, assertion.credential_id);
  if (passkey?.tenant !== tenant || passkey.principal !== principal) {
    return new Problem("Forbidden", "This passkey is not one of yours, or was revoked");
  }
  const expected = { challenge, rpId: rp_id, origins: [origin] };
  try {
    return await verifyAssertion(NODE_PRIMITIVES, assertion, passkey, expected);
  } catch (error) {
    if (!(error instanceof PasskeyError)) throw error;
    return new Problem("Forbidden", error.message);
  }
}

async function statementAbout(
  db: Db,
  approval: ApprovalRecord,
  nonce: string,
): Promise<ApprovalStatement> {
  const cycle = await countReopenings(db, approval.id);
  return statementOf(NODE_PRIMITIVES, toStated(approval), { cycle, nonce });
}

/** Returns an approval as answers show it. */
function toStated(approval: ApprovalRecord): StatedApproval {
  return escapeInvisible({
    approval_id: approval.id,
    subject: approval.subject,
    description: approval.description,
    ...ApprovalGrounds.parse(approval.grounds),
    requested_by: approval.requestedBy,
    tenant_id: approval.tenant,
    needed: approval.needed,
    action: { ...approval.action },
    action_commitment: approval.actionCommitment,
  });
}
