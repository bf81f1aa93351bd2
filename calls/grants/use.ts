/** Using standing grants: what they allow is verified anew each time, and each use is counted before its act. */
import { isSamePrincipal, Problem } from "../../contract/mod.ts";
import { canonicalize, NODE_PRIMITIVES } from "../../ledger/mod.ts";
import { challengeOf, grantStatementOf } from "../../ledger/passkeys/mod.ts";
import type { Db, Store } from "../../store/mod.ts";
import { getApproval } from "../../store/approvals/mod.ts";
import { listActiveFreezes } from "../../store/calendar/mod.ts";
import { type GrantRecord, listGrantsOfAction, takeGrantUse } from "../../store/grants/mod.ts";
import { findValidKeys } from "../../store/keys/mod.ts";
import { isFlagSet } from "../../store/platform/mod.ts";
import { countedApprovers, sha256 } from "../approvals/mod.ts";
import { verifyPasskey } from "../passkeys.ts";
import { actionOfGrant } from "./terms.ts";

/** An act that people are asked about, as a rule or a runbook says so and nothing else. */
export interface AskedAct {
  /** SHA-256 of its action, as an approval of it would have. */
  readonly actionSha256: string;
  /** How many people it takes. */
  readonly approvers: number;
  /** Id of what would use a grant, once: a decision, or an action of a loop. */
  readonly id: string;
}

/** A use of a grant. */
export interface GrantUse {
  /** `GRN-` and 12 hex characters. */
  readonly grant: string;
  /** From 1. */
  readonly use: number;
  readonly max_uses: number;
}

/**
 * Uses a standing grant for an act, if one allows exactly that. Counted in the transaction of what decides about the act, so
 * that no process can use it once more than it says. While changes are frozen, no grant allows anything.
 *
 * @returns undefined: people have to be asked
 */
export async function useGrant(
  { tenant }: Pick<Store, "tenant">,
  trx: Db,
  asked: AskedAct,
): Promise<GrantUse | undefined> {
  const grants = await listGrantsOfAction(trx, asked.actionSha256);
  if (grants.length === 0 || (await listActiveFreezes(trx)).length > 0) return undefined;
  const least = await isFlagSet(trx, "require_two_approvers") ? 2 : 1;
  const wanted = { ...asked, approvers: Math.max(asked.approvers, least) };
  for (const grant of grants) {
    if (grant.terms.tenant_id !== tenant || !await isInForce(trx, grant, wanted)) continue;
    const use = await takeGrantUse(trx, grant, asked.id);
    if (use !== undefined) return { grant: grant.id, use, max_uses: grant.terms.max_uses };
  }
  return undefined;
}

/** Returns whether people allow an act by a grant now: by what was signed, and never by what else its row says. */
async function isInForce(
  trx: Db,
  { id, terms, signed, madeByKey, approvalId }: GrantRecord,
  { actionSha256, approvers }: AskedAct,
): Promise<boolean> {
  const names = terms.acts.some(({ action_sha256 }) => action_sha256 === actionSha256);
  const isOver = Date.parse(terms.expires_at) <= Date.now();
  if (id !== terms.grant_id || !names || isOver || terms.needed < approvers) return false;
  const [key] = await findValidKeys(trx, [madeByKey]);
  if (!key?.mayApprove || key.principal !== terms.made_by) return false;
  if (key.tenant !== terms.tenant_id && key.tier !== "admin") return false;
  const { statement: { nonce }, assertion, rp_id: rpId, origin } = signed;
  const challenge = challengeOf(NODE_PRIMITIVES, grantStatementOf(NODE_PRIMITIVES, terms, nonce));
  try {
    await verifyPasskey(trx, key, assertion, { challenge, rpId, origins: [origin] });
  } catch (error) {
    if (error instanceof Problem) return false;
    throw error;
  }
  return terms.needed === 1 || await haveOthersApproved(trx, approvalId, terms);
}

/** Returns whether as many others as it takes have approved exactly this grant, by passkeys, with keys that count now. */
async function haveOthersApproved(
  trx: Db,
  approvalId: string | null,
  terms: GrantRecord["terms"],
): Promise<boolean> {
  const approval = approvalId === null ? undefined : await getApproval(trx, approvalId);
  if (approval?.status !== "approved" || !approval.grounds.passkey) return false;
  const hash = sha256(canonicalize(actionOfGrant(terms)));
  const isSame = approval.actionSha256 === hash && sha256(canonicalize(approval.action)) === hash;
  const { counted } = await countedApprovers(trx, approval);
  const others = counted.filter(({ principal }) => !isSamePrincipal(principal, terms.made_by));
  return isSame && others.length >= terms.needed - 1;
}
