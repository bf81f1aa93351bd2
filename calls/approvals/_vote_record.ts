/** Facts about a person in the receipt of their decision: pseudonyms in public, and the rest as private evidence. */
import type { SignedStatement } from "../../contract/domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import { governanceInForce } from "../../store/calls/mod.ts";
import type { ApprovalMove, ApprovalRecord } from "../../store/approvals/mod.ts";
import { openPolicyCache } from "../governance/mod.ts";
import { shownFields } from "./statement.ts";
import { voterOf } from "./voter.ts";

/** The fields of a move's receipt that are about people. */
interface PublicVoters {
  /** Who has made the move; undefined: no person. */
  readonly actor: string | undefined;
  readonly approvers: readonly string[];
  readonly not_counted?: readonly string[];
  /** Present where a passkey of the person has signed what they were shown, and both processes have verified that. */
  readonly signed_with?: "passkey";
  /** How often the approval was reopened before, where a passkey has signed that. */
  readonly cycle?: number;
  /** Statement that the passkey has signed, where the policy publishes approvers. */
  readonly statement?: SignedStatement;
}

/**
 * Returns what goes public of the people of a move: a pseudonym each, of this approval alone, and whether a passkey has
 * signed. Where the policy says `publish_approvers`, it is the ids of their keys, and what the passkey has signed.
 */
export async function publicVoters(
  trx: Db,
  { id, approvers: before }: ApprovalRecord,
  { by, approvers, notCounted = [], statement }: ApprovalMove,
): Promise<PublicVoters> {
  const { version } = await governanceInForce(trx);
  const { policy: { publish_approvers: isPublic } } = await openPolicyCache(trx)(version);
  const principals = new Map(
    [...before, ...approvers, ...by ? [by] : []].map((one) => [one.key_id, one.principal]),
  );
  const nameOf = async (keyId: string) =>
    isPublic ? `key:${keyId}` : await voterOf(trx, id, principals.get(keyId)!);
  const namesOf = (keyIds: readonly string[]) => Promise.all(keyIds.map(nameOf));
  return {
    actor: by && await nameOf(by.key_id),
    approvers: await namesOf(approvers.map(({ key_id }) => key_id)),
    ...(notCounted.length > 0 ? { not_counted: await namesOf(notCounted) } : {}),
    ...(statement ? { signed_with: "passkey", cycle: statement.statement.cycle } : {}),
    ...(statement && isPublic ? { statement } : {}),
  };
}

/**
 * Returns the private evidence of who has made a move, and of what their passkey has signed: with the action it is all that
 * it takes to check the signature (`npm run verify -- --evidence`).
 */
export function voteEvidence(
  approval: ApprovalRecord,
  { by, statement }: ApprovalMove,
): Readonly<Record<string, unknown>> {
  return {
    ...(by ? { voter: { key_id: by.key_id, principal: by.principal } } : {}),
    ...(statement
      ? {
        statement,
        shown: { ...shownFields(approval), action_salt: approval.actionSalt.toString("hex") },
      }
      : {}),
  };
}
