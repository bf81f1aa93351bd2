/** Who approves a tenant's commands, and how that changes: each version is signed by approvers of the one before. */
import { createPublicKey, type KeyObject, sign } from "node:crypto";
import { Problem } from "../../../contract/mod.ts";
import { APPROVERS_DOMAIN } from "../../../contract/domain/mod.ts";
import type { ApproversAck } from "./heartbeat_call.ts";
import { canonicalize, NODE_PRIMITIVES, randomHex, requestSeal } from "../../../ledger/mod.ts";
import type { Db } from "../../../store/mod.ts";
import {
  addApprovers,
  type Approvers,
  type ApproversVersion,
  type DeviceRecord,
  findApproversAfter,
  getApprovers,
  noteApproversRefused,
} from "../../../store/devices/mod.ts";

/** A signature by an approver's key. */
export type ApproverSignature = ApproversVersion["signatures"][number];

/** Returns the text that approvers of one version sign to name those of the next. */
export function approversText(
  org_id: string,
  { approvers, version }: Pick<ApproversVersion, "approvers" | "version">,
): string {
  const { signatures_required, keys, passkeys } = approvers;
  const named = { signatures_required, keys, ...(passkeys ? { passkeys } : {}) };
  return APPROVERS_DOMAIN + canonicalize({ approvers: named, org_id, version });
}

/** Signs a text with an approver's private key. */
export function signAsApprover(text: string, key: KeyObject): ApproverSignature {
  const raw = createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32);
  return {
    key: raw.toString("hex"),
    signature: sign(null, Buffer.from(text), key).toString("hex"),
  };
}

/**
 * Names the approvers of the tenant of `trx`. The first ones are named by the operator, and are pinned on devices that are
 * installed from then on; later ones need signatures by as many approvers as are required now, at least one.
 *
 * @returns the new version, and its receipt
 * @throws {Problem} `Forbidden`: signatures are missing; `Conflict`: the version is another one
 */
export async function changeApprovers(
  trx: Db,
  actor: string,
  next: ApproversVersion,
): Promise<string> {
  const current = await getApprovers(trx);
  const expected = (current?.version ?? 0) + 1;
  if (next.version !== expected) {
    throw new Problem("Conflict", `The next version of ${trx.tenant}'s approvers is ${expected}`);
  }
  if (current) checkSigned(trx.tenant, current.approvers, next);
  const receiptId = randomHex(16);
  if (!await addApprovers(trx, next, receiptId)) {
    throw new Problem("Conflict", "Somebody else has just changed the approvers; try again");
  }
  await requestSeal(trx, {
    id: receiptId,
    category: "tenant_approvers",
    actor,
    subject: "tenant",
    action: "tenants.approvers",
    outcome: "success",
    details: {
      version: next.version,
      signatures_required: next.approvers.signatures_required,
      keys: next.approvers.keys.length,
      passkeys: next.approvers.passkeys?.length ?? 0,
      signed_by: next.signatures.length,
    },
    evidence: { tenant: trx.tenant, approvers: next.approvers, signatures: next.signatures },
  });
  return receiptId;
}

/** @throws {Problem} `Forbidden`: too few of the approvers have signed */
function checkSigned(
  tenant: string,
  { signatures_required, keys }: Approvers,
  next: ApproversVersion,
) {
  const text = new TextEncoder().encode(approversText(tenant, next));
  const signers = new Set(
    next.signatures.filter(({ key, signature }) =>
      keys.includes(key) &&
      NODE_PRIMITIVES.verifyEd25519(key, text, Buffer.from(signature, "hex"))
    ).map(({ key }) => key),
  );
  const needed = Math.max(1, signatures_required);
  if (signers.size >= needed) return;
  throw new Problem(
    "Forbidden",
    `Cannot change the approvers of ${tenant}: devices take the change only with ${needed} signatures of ` +
      `approvers that are pinned on them, and it has ${signers.size}`,
  );
}

/** Returns the approvers that a device has to take next; undefined: it has the newest, or has refused what there is. */
export async function nextApprovers(
  db: Db,
  { approversVersion, approversRefused }: DeviceRecord,
): Promise<ApproversVersion | undefined> {
  if (approversVersion === 0) return undefined; // nobody is pinned on it who could have signed
  return await findApproversAfter(db, approversVersion, approversRefused);
}

/** Takes a device's word about the approvers that it was sent. Which ones it has pinned, each of its heartbeats says. */
export async function takeApproversAck(
  trx: Db,
  { id, approversVersion }: DeviceRecord,
  { approvers_version: version, result }: ApproversAck,
): Promise<void> {
  const isNext = version === approversVersion + 1;
  if (isNext && result === "refused") await noteApproversRefused(trx, id);
}
