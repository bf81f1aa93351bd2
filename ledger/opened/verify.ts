import { escapeInvisible } from "../../contract/text/mod.ts";
import type { Primitives } from "../rules/mod.ts";
import type { Trust } from "../trust/mod.ts";
import { checkGrant, groupByGrant } from "./_grants.ts";
import { judgeLog } from "./_log.ts";
import { checkPeople, isSameName, voterOf } from "./_people.ts";
import { asObject, type CheckedReceipt, checkOpened } from "./_receipt.ts";
import { checkSigned, isSigned, listMissing, type Signed } from "./_signed.ts";
import { checkOwnCall, checkVotes } from "./_votes.ts";
import { parseBundle } from "./bundle.ts";

/** The verdict on a file of opened evidence. */
export interface EvidenceReport {
  /** 0: everything holds; 1: something does not; 2: that can't be told, as something is missing. */
  readonly exit: 0 | 1 | 2;
  /** For people, in an order of their own; characters that can't be seen are spelled out. */
  readonly lines: readonly string[];
}

/** Names of the algorithms by the kinds of their keys. */
const ALGORITHM_OF = { EC: "ES256", OKP: "EdDSA", RSA: "RS256" } as const;

const BY_KEY = "approved by a key: no passkey has signed it";
const NOT_CLAIMED =
  "not claimed: what eyes saw, whose finger it was, that the names are true, that these are all receipts";

/**
 * Verifies a file of opened evidence, without the platform: each receipt, its place in the log, that what was opened is what
 * was sealed, what passkeys have signed, and who decided.
 *
 * @throws {BadEvidence} it is none
 */
export async function verifyEvidence(
  text: string,
  trust: Trust,
  primitives: Primitives,
): Promise<EvidenceReport> {
  const bundle = parseBundle(text);
  const log = judgeLog(bundle, trust, primitives);
  const faults = [...log.faults], absent = [...log.absent];
  const receipts = bundle.receipts.map((one) => checkOpened(one, log, trust, primitives));
  const lines: string[] = [];
  let signatures = 0;
  for (const receipt of receipts) {
    const claims = isSigned(receipt) ? await claimsOf(receipt, receipts, primitives) : [];
    if (claims.length > 0) signatures++;
    lines.push(...describe(receipt, claims));
    receipt.faults.push(...checkOwnCall(receipt));
    faults.push(...receipt.faults.map((fault) => `#${receipt.position}: ${fault}`));
    absent.push(...receipt.absent.map((reason) => `#${receipt.position}: ${reason}`));
  }
  for (const [id, about] of groupByApproval(receipts)) {
    const people = checkPeople(id, about);
    lines.push(...people.says);
    faults.push(...people.faults, ...checkVotes(id, about));
  }
  for (const [id, about] of groupByGrant(receipts)) {
    const grant = checkGrant(id, about, receipts, primitives);
    lines.push(...grant.says);
    faults.push(...grant.faults);
  }
  if (receipts.length === 0) absent.push("there is no receipt in the file");
  lines.push(
    ...signatures > 0 ? [NOT_CLAIMED] : [],
    ...faults.map((fault) => `WRONG ${fault}`),
    ...absent.map((reason) => `UNKNOWN ${reason}`),
    `${count(receipts.length, "receipt")}, ${count(signatures, "passkey signature")}, ${
      count(faults.length, "problem")
    }`,
  );
  const exit = faults.length > 0 ? 1 : absent.length > 0 ? 2 : 0;
  return { exit, lines: lines.map(escapeInvisible) };
}

const count = (number: number, what: string) => `${number} ${what}${number === 1 ? "" : "s"}`;

/** Checks what a passkey has signed. @returns what is claimed then, a line each; none where it does not hold */
async function claimsOf(
  receipt: CheckedReceipt,
  receipts: readonly CheckedReceipt[],
  primitives: Primitives,
): Promise<string[]> {
  const missing = listMissing(receipt);
  if (missing.length > 0) {
    receipt.absent.push(`what the passkey signed is not opened: ${missing.join(", ")}`);
    return [];
  }
  const checked = await checkSigned(receipt, primitives);
  if (typeof checked === "string") {
    receipt.faults.push(checked);
    return [];
  }
  const enrolment = enrolmentOf(checked, receipt, receipts);
  const { signed: { passkey_id, public_key, origin, list }, lines } = checked;
  return [
    `this credential, with user verification, signed exactly this text: passkey ${passkey_id}, ${
      ALGORITHM_OF[public_key.kty]
    }, on a page of ${origin}`,
    ...lines.map((line) => `| ${line}`),
    ...list
      ? [
        `by one gesture over a list of ${list.statement.size}, of which this is number ${
          list.index + 1
        }`,
      ]
      : [],
    ...enrolment === undefined ? [] : [enrolment],
  ];
}

/** Describes whose passkey it is, by the receipt of its enrolment where the file has it. */
function enrolmentOf(
  { signed, signer }: Signed,
  receipt: CheckedReceipt,
  receipts: readonly CheckedReceipt[],
): string | undefined {
  const found = receipts.find(({ id }) => id === signed.enrolment);
  if (!found?.opened.has("passkey")) {
    return `its enrolment, receipt ${signed.enrolment}, is not opened`;
  }
  const { credential_id, public_key, principal } = asObject(found.opened.get("passkey"));
  const key = asObject(public_key);
  const isSame = found.category === "passkey_enrolled" && found.position < receipt.position &&
    credential_id === signed.assertion.credential_id &&
    Object.entries(signed.public_key).every(([name, value]) => key[name] === value);
  if (
    isSame && typeof principal === "string" &&
    (signer === undefined || isSameName(principal, signer))
  ) {
    return `enrolled before that for ${principal}, by receipt #${found.position}`;
  }
  receipt.faults.push("its passkey is not the one that was enrolled for the person");
  return undefined;
}

function describe(receipt: CheckedReceipt, claims: readonly string[]): string[] {
  const { position, id, action, subject, outcome, timestamp, actor, says } = receipt;
  const voter = voterOf(receipt);
  const named = voter ? [`${actor} is ${voter.principal}, by key ${voter.key_id}`] : [];
  const isByKey = action === "approval.approved" && !isSigned(receipt);
  return [
    `#${position} ${id} ${action} ${subject}: ${outcome}, ${timestamp}`,
    ...[...says, ...named, ...isByKey ? [BY_KEY] : [], ...claims].map((line) => `  ${line}`),
  ];
}

function groupByApproval(receipts: readonly CheckedReceipt[]): Map<string, CheckedReceipt[]> {
  const groups = new Map<string, CheckedReceipt[]>();
  for (const receipt of receipts) {
    if (receipt.category !== "approval") continue;
    groups.set(receipt.subject, [...groups.get(receipt.subject) ?? [], receipt]);
  }
  return groups;
}
