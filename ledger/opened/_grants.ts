import type { GrantTerms } from "../../contract/domain/mod.ts";
import { canonicalize, type Primitives } from "../rules/mod.ts";
import type { CheckedReceipt, Findings } from "./_receipt.ts";
import { COUNT, secondsOf, TEXT } from "./_shapes.ts";
import { TERMS } from "./_statements.ts";

/** How far a receipt's time may be from the clock by which a grant ends. */
const CLOCK_SECONDS = 300;

/** Groups receipts by the standing grants that they are about, or that they say they went under. */
export function groupByGrant(receipts: readonly CheckedReceipt[]): Map<string, CheckedReceipt[]> {
  const groups = new Map<string, CheckedReceipt[]>();
  for (const receipt of receipts) {
    const { category, details: { grant, grant_id } } = receipt;
    const id = isUse(receipt) ? grant : category === "grant" ? grant_id : undefined;
    if (typeof id === "string") groups.set(id, [...groups.get(id) ?? [], receipt]);
  }
  return groups;
}

/** A repair's use has a receipt of its own; that of a call is in its decision. */
const isUse = ({ category, action, details }: CheckedReceipt) =>
  TEXT(details.grant) && (category === "governance_decision" || action === "grant.used");

/**
 * Checks a standing grant against the acts that went under it: each is one that it names, was counted, and came between its
 * making, with the approval of the others that it takes, and its end.
 *
 * @param receipts of the grant
 * @param all of the file
 */
export function checkGrant(
  id: string,
  receipts: readonly CheckedReceipt[],
  all: readonly CheckedReceipt[],
  { sha256 }: Pick<Primitives, "sha256">,
): Pick<Findings, "says" | "faults"> {
  const made = receipts.find(({ action }) => action === "grant.made");
  const uses = receipts.filter(isUse);
  if (!made) {
    const says = [`${id}: how it was made is not in the file, so what it allows can't be told`];
    return { says, faults: checkNumbers(id, uses, undefined) };
  }
  const { max_uses, expires_at } = made.details;
  const end = secondsOf(expires_at);
  if (!COUNT(max_uses) || end === undefined) {
    return { says: [], faults: [`${id}: its receipt says neither how often nor until when`] };
  }
  const terms = termsOf(made);
  const others = checkOthers(id, made, terms, all);
  const revoked = receipts.find(({ action }) => action === "grant.revoked");
  const faults = [...others.faults, ...checkNumbers(id, uses, max_uses)];
  const hashes = new Set(terms?.acts.map(({ action_sha256 }) => action_sha256));
  let named = 0;
  for (const use of uses) {
    const { position, timestamp, contents } = use;
    const fault = (what: string) => faults.push(`${id}: the use #${position} ${what}`);
    if (position < others.since) fault("came before it was made and approved");
    if (revoked && position > revoked.position) fault("came after it was revoked");
    if ((secondsOf(timestamp) ?? Infinity) > end + CLOCK_SECONDS) fault("came after its end");
    const action = contents.get("action");
    if (!terms || action === undefined) continue;
    if (hashes.has(sha256(new TextEncoder().encode(action)))) named++;
    else fault("is of an act that it does not name");
  }
  const says = [
    ...others.says,
    `${id}: it allows ${max_uses} of its acts until ${expires_at}; the file has ${uses.length} use${
      uses.length === 1 ? "" : "s"
    }, ` +
    `${named} of them opened, of acts that it names`,
  ];
  return { says, faults };
}

function termsOf({ opened }: CheckedReceipt): GrantTerms | undefined {
  const terms = opened.get("terms");
  return TERMS(terms) ? terms as GrantTerms : undefined;
}

/** Checks that uses were counted: each has a number of its own, up to the most that the grant allows. */
function checkNumbers(id: string, uses: readonly CheckedReceipt[], most: unknown): string[] {
  const taken = new Set<unknown>();
  return uses.flatMap(({ position, details: { use } }) => {
    const fault = (what: string) => [`${id}: the use #${position} ${what}`];
    if (!COUNT(use) || use === 0) return fault("has no number");
    if (taken.has(use)) return fault("has the number of another one");
    taken.add(use);
    return COUNT(most) && (use as number) > (most as number)
      ? fault(`is one more than ${most}`)
      : [];
  });
}

/** Checks that the others that a grant takes have approved exactly it. @returns the position from which it allows anything, too */
function checkOthers(
  id: string,
  { position, details: { needed, approval_id } }: CheckedReceipt,
  terms: GrantTerms | undefined,
  all: readonly CheckedReceipt[],
): Pick<Findings, "says" | "faults"> & { readonly since: number } {
  if (needed === 1) return { says: [], faults: [], since: position };
  const approved = all.find(({ category, subject, outcome }) =>
    category === "approval" && subject === approval_id && outcome === "approved"
  );
  if (!approved) {
    const says = [`${id}: the approval of the others that it takes is not in the file`];
    return { says, faults: [], since: position };
  }
  const { opened, contents, details } = approved;
  const isSame = !terms || !opened.has("action") ||
    contents.get("action") === canonicalize({ kind: "standing_grant", grant: terms });
  const isEnough = COUNT(details.needed) && COUNT(needed) &&
    (details.needed as number) >= (needed as number) - 1;
  return {
    says: [`${id}: the others that it takes have approved it, by receipt #${approved.position}`],
    faults: [
      ...isSame ? [] : [`${id}: the others have approved another grant`],
      ...isEnough ? [] : [`${id}: fewer others have approved it than it takes`],
    ],
    since: Math.max(position, approved.position),
  };
}
