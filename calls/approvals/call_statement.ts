import type { CallStatement, SignedStatement } from "../../contract/domain/mod.ts";
import { escapeInvisible, Problem } from "../../contract/mod.ts";
import { NODE_PRIMITIVES } from "../../ledger/mod.ts";
import { callStatementOf, challengeOf, type ShownCall } from "../../ledger/passkeys/mod.ts";
import { listReached } from "../../store/cmdb/mod.ts";
import {
  listPasskeys,
  newChallengeId,
  type PasskeyRecord,
  putChallenge,
  takeChallenge,
} from "../../store/people/mod.ts";
import { type RecordedEvaluation, targetOf } from "../governance/mod.ts";
import { ANSWER_SECONDS, siteOf } from "../passkeys.ts";
import type { Platform } from "../platform.ts";
import type { CheckedCall } from "../run.ts";
import { actionOf, sha256 } from "./action.ts";
import { useOwnPasskey } from "./statement.ts";

type Parts = Pick<Platform, "store" | "urls">;

/** Returns a call as that of somebody who can sign it: a person who has signed in and has no passkey decides about nothing. */
export async function asSigner(
  { store }: Pick<Platform, "store">,
  call: CheckedCall,
): Promise<CheckedCall> {
  const { caller, caller: { session, principal } } = call;
  if (!session?.mayApprove || (await listPasskeys(store.db, principal)).length > 0) return call;
  return { ...call, caller: { ...caller, session: { ...session, mayApprove: false } } };
}

/**
 * Takes the caller's signed decision about a call of theirs that a rule leaves to people: what was given to their session,
 * signed by a passkey of theirs, about exactly this call. Nobody can give it again.
 *
 * @returns it, and the fields from which the lines that were shown are made
 * @throws {Problem} `PasskeyNeeded`: it comes without one, and the problem has what is to be signed; `Forbidden`, `Conflict`:
 * why what came does not count
 */
export async function takeCallStatement(
  parts: Parts,
  call: CheckedCall,
  { rule, reasons }: Pick<RecordedEvaluation, "rule" | "reasons">,
): Promise<{ readonly statement: SignedStatement<CallStatement>; readonly shown: ShownCall }> {
  const { caller, request: { passkey } } = call;
  const { db } = parts.store;
  const shown = await toShown(parts, call, rule, reasons);
  const act = sha256(actionOf(call).text);
  if (!passkey) throw await askToSign(parts, call, shown, act);
  const { challenge_id: nonce, assertion } = passkey;
  return await db.transaction(async (trx) => {
    const given = await takeChallenge(trx, nonce, caller.session!.id);
    if (given?.about !== purposeOf(call)) {
      throw new Problem("Conflict", "This was signed already, or too late: make the call again");
    }
    const statement = callStatementOf(NODE_PRIMITIVES, shown, { act, nonce });
    const challenge = challengeOf(NODE_PRIMITIVES, statement);
    if (challenge !== given.challenge) {
      throw new Problem(
        "Conflict",
        "This is not the call that was shown: make it again, and read it",
      );
    }
    const answer = await useOwnPasskey({ caller, urls: parts.urls }, trx, assertion, challenge);
    return { statement: { statement, ...answer }, shown };
  });
}

const purposeOf = ({ operation }: CheckedCall) => `call:${operation.name}`;

async function askToSign(
  parts: Parts,
  call: CheckedCall,
  shown: ShownCall,
  act: string,
): Promise<Problem> {
  const { rpId } = siteOf(parts);
  const { db } = parts.store;
  const { session, principal } = call.caller;
  const id = newChallengeId();
  const statement = callStatementOf(NODE_PRIMITIVES, shown, { act, nonce: id });
  const challenge = challengeOf(NODE_PRIMITIVES, statement);
  const about = purposeOf(call);
  await putChallenge(
    db,
    { id, sessionId: session!.id, about, challenge, statement: { ...statement } },
    ANSWER_SECONDS,
  );
  const credentials = (await listPasskeys(db, principal)).map(toCredential);
  const detail =
    `Nothing was done yet: the rule ${shown.rule} leaves this call to people, and your passkey decides. ` +
    "Sign what is shown, and make the same call with the answer in the header x-passkey";
  const proposal = { challenge_id: id, challenge, statement, rp_id: rpId, credentials };
  return new Problem("PasskeyNeeded", detail, {
    body: { detail, passkey: { ...proposal, shown: escapeInvisible(shown) } },
  });
}

const toCredential = ({ credential_id }: PasskeyRecord) => credential_id;

async function toShown(
  { store }: Parts,
  call: CheckedCall,
  rule: string,
  reasons: readonly string[],
): Promise<ShownCall> {
  const { operation, caller: { principal, tenant }, input } = call;
  const target = targetOf(input);
  return {
    summary: operation.summary,
    rule,
    reasons: [...reasons],
    reaches: target ? await listReached(store.db, target) : [],
    requested_by: principal,
    tenant_id: tenant,
    action: actionOf(call).action,
  };
}
