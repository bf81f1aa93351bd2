import { asObject, type CheckedReceipt } from "./_receipt.ts";
import { COUNT, listOf, TEXT } from "./_shapes.ts";
import { isSigned } from "./_signed.ts";

/** Outcomes after which nobody can vote, until somebody asks again. */
const ENDS = new Set(["approved", "denied", "expired", "outdated"]);

/**
 * Checks that each vote about an approval could count when it was made: before the approval had ended, by a passkey where its
 * rule takes one, and as one of as many different people as were asked for.
 *
 * @returns what does not hold
 */
export function checkVotes(id: string, receipts: readonly CheckedReceipt[]): string[] {
  const faults: string[] = [];
  const inOrder = receipts.toSorted((a, b) => a.position - b.position);
  const takesPasskey = inOrder.some(saysPasskey);
  const asked = inOrder.find(({ action }) => action === "approval.requested")?.details.needed;
  let end: string | undefined;
  for (const receipt of inOrder) {
    const { action, outcome, position, details: { needed, approvers } } = receipt;
    if (action === "approval.approved") {
      const vote = `${id}: the vote #${position}`;
      if (end !== undefined) faults.push(`${vote} was made after it was ${end}`);
      if (takesPasskey && !isSigned(receipt)) {
        faults.push(`${vote} is by a key alone, and its rule takes a passkey`);
      }
      if (COUNT(asked) && needed !== asked) {
        faults.push(`${vote} counts for another number of people`);
      }
      if (listOf(TEXT)(approvers) && repeats(approvers as string[])) {
        faults.push(`${vote} counts one person twice`);
      }
    }
    end = ENDS.has(outcome) ? outcome : action === "approval.reopened" ? undefined : end;
  }
  return faults;
}

const repeats = (names: readonly string[]) => new Set(names).size < names.length;

/** Returns true where a receipt says that its rule takes a passkey: in public, or in what was opened of it. */
function saysPasskey({ details, opened }: CheckedReceipt): boolean {
  const said = [details, asObject(opened.get("grounds")), asObject(opened.get("shown"))];
  return said.some(({ passkey }) => passkey === true);
}

/** Checks that a call that its person decides about by a passkey is signed. @returns what does not hold */
export function checkOwnCall(receipt: CheckedReceipt): string[] {
  const { category, outcome, details } = receipt;
  const decides = category === "governance_decision" && outcome === "allow" &&
    details.caller_approves === true && details.passkey === true;
  return decides && !isSigned(receipt)
    ? ["it is left to a person and their passkey, which has not signed it"]
    : [];
}
