/** Signatures by which approvers of a tenant let its devices run a command. */
import type { SubjectVote } from "../../../calls/mod.ts";
import { Problem } from "../../../contract/mod.ts";
import { actionOfCommand, approvalText, hashAction } from "../protocol/mod.ts";
import { verifyEd25519 } from "../../../ledger/crypto/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { type ApproverSignature, listSignatures } from "../../../store/approvals/mod.ts";
import { type DeviceCommandRecord, getApprovers } from "../../../store/devices/mod.ts";

/**
 * Returns why a vote for a command does not do; undefined: it does. Where the tenant's devices ask for approvers'
 * signatures, each vote has one, by an approver's key or passkey; elsewhere nobody has to sign.
 */
export async function commandRefusal(
  db: Db,
  command: DeviceCommandRecord,
  { approvalId: id, move, signature, passkey }: SubjectVote,
): Promise<Problem | undefined> {
  if (move !== "approved") return undefined;
  const { signatures_required = 0, keys = [], passkeys = [] } = (await getApprovers(db))
    ?.approvers ?? {};
  if (signature) return await signatureRefusal(db, command, id, signature, keys);
  if (signatures_required === 0) return undefined;
  const isPinned = passkeys.some(({ credential_id, origin }) =>
    credential_id === passkey?.credentialId && origin === passkey.origin
  );
  if (isPinned) return undefined; // what it has signed is verified where the vote is taken, and where it counts
  return refuse(
    `${id} is about a command on a device that asks for its approvers' own signatures` +
      (passkey ? ", and this passkey is no approver's" : "") + ": one after another, " +
      `npm run approvals -- show ${id} --save shown.json; … sign shown.json --sign <your key's file>; ` +
      `… approve ${id} --signature <its output>`,
  );
}

async function signatureRefusal(
  db: Db,
  command: DeviceCommandRecord,
  approvalId: string,
  { key, signature }: ApproverSignature,
  keys: readonly string[],
): Promise<Problem | undefined> {
  if (!keys.includes(key)) {
    return refuse(`Cannot take the signature: ${key} is no approver's key of this tenant`);
  }
  const action = actionOfCommand(command);
  const text = Buffer.from(approvalText(approvalId, action, hashAction(action)));
  if (!verifyEd25519(key, text, Buffer.from(signature, "hex"))) {
    return refuse(
      `Cannot take the signature: it is not over the command that ${approvalId} is about`,
    );
  }
  const others = await listSignatures(db, approvalId);
  if (!others.some((one) => one.key === key)) return undefined;
  return new Problem("Conflict", `This key has signed for ${approvalId} already; it takes others`);
}

const refuse = (message: string) => new Problem("Forbidden", message);
