import type { ApprovalStatement } from "../../contract/domain/mod.ts";
import { NOBLE } from "../../ledger/page/checks/mod.ts";
import { challengeOf, listStatementOf, statementOf } from "../../ledger/passkeys/mod.ts";
import { call } from "./api.ts";
import { sign } from "./authenticator.ts";
import type { Approval } from "./shapes.ts";

/** A list that a session is given to sign. */
interface ProposedList {
  readonly challenge_id: string;
  readonly challenge: string;
  /** About those that wait, in the order of the list. */
  readonly statements: readonly ApprovalStatement[];
  readonly rp_id: string;
  readonly credentials: readonly string[];
}

/** Result of one approval of a list. */
export interface Decided {
  readonly approval_id: string;
  readonly status: Approval["status"];
  readonly problem: string | null;
}

/**
 * Has the person's passkey sign a list of exactly what this page shows. What has changed since is left out, and so is what
 * does not wait any more. What the gateway proposes counts only where it is the same.
 *
 * @throws {Error} with a sentence for the person
 */
export async function approveShown(shown: readonly Approval[]): Promise<readonly Decided[]> {
  const first = await propose(shown);
  const same = unchanged(first, shown);
  if (same.length === 0) throw new Error("All of them have changed: look again, and decide");
  const list = same.length === first.statements.length ? first : await propose(same);
  const { challenge_id, challenge, rp_id, credentials } = list;
  const signed = unchanged(list, same);
  if (challengeOf(NOBLE, listStatementOf(NOBLE, own(list, signed), challenge_id)) !== challenge) {
    throw new Error("Something has changed since this page showed it: look again, and decide");
  }
  const assertion = await sign(challenge, rp_id, credentials);
  const { results } = await call<{ results: Decided[] }>(
    "POST",
    "/v1/console/approvals/approve",
    { approval_ids: idsOf(signed), passkey: { challenge_id, assertion } },
  );
  return results;
}

/** Denies what is shown. @throws {Error} with a sentence for the person */
export async function denyShown(shown: readonly Approval[]): Promise<readonly Decided[]> {
  const body = { approval_ids: idsOf(shown) };
  return (await call<{ results: Decided[] }>("POST", "/v1/console/approvals/deny", body)).results;
}

const propose = (shown: readonly Approval[]) =>
  call<ProposedList>("POST", "/v1/console/approvals/statement", { approval_ids: idsOf(shown) });

const idsOf = (shown: readonly Approval[]) => shown.map(({ approval_id }) => approval_id);

/** Returns those that the gateway proposes as they are shown, in the order of its list. */
function unchanged(list: ProposedList, shown: readonly Approval[]): readonly Approval[] {
  const byId = new Map(shown.map((one) => [one.approval_id, one]));
  return list.statements.flatMap((theirs) => {
    const one = byId.get(theirs.approval);
    const isSame = one && challengeOf(NOBLE, statementOf(NOBLE, one, theirs)) ===
        challengeOf(NOBLE, theirs);
    return isSame ? [one] : [];
  });
}

/** Returns the statements about what is shown. */
function own(list: ProposedList, shown: readonly Approval[]): readonly ApprovalStatement[] {
  const theirs = new Map(list.statements.map((one) => [one.approval, one]));
  return shown.map((one) => statementOf(NOBLE, one, theirs.get(one.approval_id)!));
}
