import type {
  ApprovalStatement,
  CallStatement,
  GrantStatement,
  GrantTerms,
  SignedGrant,
  SignedStatement,
} from "../../contract/domain/mod.ts";
import {
  challengeOf,
  grantLines,
  PasskeyError,
  type ShownApproval,
  type ShownCall,
  shownCallLines,
  shownLines,
  signedChallenge,
  verifyAssertion,
} from "../passkeys/mod.ts";
import { canonicalize, type Primitives } from "../rules/mod.ts";
import { isSameName, voterOf } from "./_people.ts";
import { asObject, type CheckedReceipt } from "./_receipt.ts";
import {
  APPROVAL_STATEMENT,
  CALL_STATEMENT,
  GRANT_STATEMENT,
  SHOWN_APPROVAL,
  SHOWN_CALL,
  TERMS,
} from "./_statements.ts";

/** A statement that a passkey has signed, its lines, and who has signed by the evidence. */
export interface Signed {
  readonly signed: SignedStatement<ApprovalStatement | CallStatement | GrantStatement>;
  readonly lines: readonly string[];
  /** Principal; undefined: it is not opened. */
  readonly signer: string | undefined;
}

const UTF_8 = new TextEncoder();

/** Returns true for a receipt that says that a passkey has signed what it is about. */
export function isSigned({ category, action, details }: CheckedReceipt): boolean {
  return details.signed_with === "passkey" &&
    (isCall({ category }) || isGrant({ category, action }) ||
      category === "approval" && action === "approval.approved");
}

/** A call of a person's own, which a rule has left to people. */
const isCall = ({ category }: Pick<CheckedReceipt, "category">) =>
  category === "governance_decision";

const isGrant = ({ category, action }: Pick<CheckedReceipt, "category" | "action">) =>
  category === "grant" && action === "grant.made";

/** Returns the names of the entries that it takes to check what a passkey has signed, and that are not opened. */
export function listMissing(receipt: CheckedReceipt): string[] {
  const { opened, details } = receipt;
  const needed = isGrant(receipt)
    ? ["statement", "terms"]
    : isCall(receipt)
    ? ["shown", "statement"]
    : ["action", "shown", "statement"];
  return needed.filter((name) => !opened.has(name) && !(name === "statement" && details.statement));
}

/**
 * Checks what a passkey has signed: that it is about this very approval, call or grant, its act, and the lines that are made of what
 * was opened; and the passkey's answer itself.
 *
 * @returns a sentence where that does not hold
 */
export async function checkSigned(
  receipt: CheckedReceipt,
  primitives: Primitives,
): Promise<Signed | string> {
  const readSigned = isGrant(receipt) ? readGrant : isCall(receipt) ? readCall : readApproval;
  const read = readSigned(receipt, primitives);
  if (typeof read === "string") return read;
  const text = read.lines.map((line) => `${line}\n`).join("");
  if (primitives.sha256(UTF_8.encode(text)) !== read.signed.statement.shown_sha256) {
    return "what was signed is over another text than the one that is opened";
  }
  const fault = await findFault(read.signed, primitives);
  return fault === undefined ? read : `the passkey's answer does not count (${fault})`;
}

function readApproval(receipt: CheckedReceipt, { sha256, fromHex }: Primitives): Signed | string {
  const { subject, details, opened, contents } = receipt;
  const signed = (opened.get("statement") ?? details.statement) as SignedStatement;
  const shown = opened.get("shown") as Omit<ShownApproval, "action"> & {
    readonly action_salt: string;
  };
  const action = contents.get("action")!;
  if (!APPROVAL_STATEMENT(signed)) return "its statement is none that a passkey signs";
  if (!SHOWN_APPROVAL(shown)) return "its shown fields are not those of an approval";
  const { statement } = signed;
  if ([statement.approval, shown.approval_id, details.approval_id].some((id) => id !== subject)) {
    return "what was signed is about another approval";
  }
  if (statement.cycle !== details.cycle) {
    return "what was signed is about the approval before it was reopened";
  }
  const act = sha256(Uint8Array.from([...fromHex(shown.action_salt), ...UTF_8.encode(action)]));
  if (act !== details.action_commitment || statement.act !== act) return OTHER_ACT;
  const lines = shownLines({ ...shown, action: asObject(JSON.parse(action)) });
  return { signed, lines, signer: voterOf(receipt)?.principal };
}

function readCall(receipt: CheckedReceipt, { sha256 }: Primitives): Signed | string {
  const { action, opened } = receipt;
  const signed = opened.get("statement") as SignedStatement<CallStatement>;
  const shown = opened.get("shown") as ShownCall;
  if (!CALL_STATEMENT(signed)) return "its statement is none that a passkey signs";
  if (!SHOWN_CALL(shown)) return "its shown fields are not those of a call";
  const { call, act } = signed.statement;
  if (call !== action || shown.action.operation !== action) {
    return "what was signed is about another call";
  }
  if (act !== sha256(UTF_8.encode(canonicalize(shown.action)))) return OTHER_ACT;
  return { signed, lines: shownCallLines(shown), signer: shown.requested_by };
}

function readGrant({ subject, details, opened }: CheckedReceipt): Signed | string {
  const signed = opened.get("statement") as SignedGrant;
  const terms = opened.get("terms") as GrantTerms;
  if (!GRANT_STATEMENT(signed)) return "its statement is none that a passkey signs";
  if (!TERMS(terms)) return "its terms are not those of a grant";
  if ([signed.statement.grant, terms.grant_id, details.grant_id].some((id) => id !== subject)) {
    return "what was signed is about another grant";
  }
  const { acts, max_uses, expires_at, needed } = terms;
  const bounds = { acts: acts.length, max_uses, expires_at, needed };
  if (Object.entries(bounds).some(([name, value]) => details[name] !== value)) {
    return "its receipt names other bounds than what was signed";
  }
  const { principal } = asObject(opened.get("caller"));
  if (typeof principal === "string" && !isSameName(principal, terms.made_by)) {
    return "its maker is another person than what was signed says";
  }
  return { signed, lines: grantLines(terms), signer: terms.made_by };
}

const OTHER_ACT = "what was signed is about another act";

const isAboutCall = ({ statement }: Signed["signed"]) => "call" in statement;

/** Returns the code of what is wrong with a passkey's answer; undefined: nothing is. */
async function findFault(
  signed: Signed["signed"],
  primitives: Primitives,
): Promise<string | undefined> {
  const { assertion, public_key, rp_id: rpId, origin } = signed;
  if (/^https?:\/\/([^/:@?#]+)(?::[0-9]+)?$/.exec(origin)?.[1] !== rpId) return "rp_id";
  try {
    const challenge = isAboutCall(signed)
      ? challengeOf(primitives, signed.statement)
      : signedChallenge(primitives, signed as SignedStatement);
    const passkey = { credential_id: assertion.credential_id, public_key };
    await verifyAssertion(primitives, assertion, passkey, { challenge, rpId, origins: [origin] });
    return undefined;
  } catch (error) {
    if (error instanceof PasskeyError) return error.code;
    throw error;
  }
}
