import { type DeviceBundle, toDeviceScript } from "../../../contract/domain/mod.ts";
import { sha256 } from "../../../ledger/crypto/mod.ts";
import { buildInclusionProof } from "../../../ledger/log/mod.ts";
import {
  createHashReader,
  formatLeaf,
  getReceipt,
  listReceipts,
  type StoredReceipt,
} from "../../../ledger/mod.ts";
import type { Db, Store } from "../../../store/mod.ts";
import { getApproval, listSignatures, listStatements } from "../../../store/approvals/mod.ts";
import { findScriptVersion } from "../../../store/catalogue/mod.ts";
import {
  type DeviceCommandRecord,
  type DeviceRecord,
  getApprovers,
  listUndelivered,
  noteOffered,
} from "../../../store/devices/mod.ts";
import { toDeviceCommand } from "./command.ts";

/** Commands of one answer. */
const MAX_BUNDLES = 16;
/** Records of a bundle besides the one that issues its command; a device takes no more. */
const MAX_ROTATIONS = 15;

/**
 * Returns the commands that were issued to a device and that it has not acknowledged, in the order of their numbers, with
 * proofs that they are in the log of the first `size` receipts. From then on the device may run them.
 *
 * @param store in the name of the device's tenant
 */
export async function listBundles(
  store: Store,
  { id, status }: DeviceRecord,
  size: number,
): Promise<DeviceBundle[]> {
  if (status !== "active") return [];
  const { db } = store;
  const ready: DeviceCommandRecord[] = [];
  for (const command of await listUndelivered(db, id, MAX_BUNDLES)) {
    // One with a higher number must not overtake it: the device would take this one no more.
    if (command.position === null || command.position >= size) break;
    ready.push(command);
  }
  if (ready.length === 0) return [];
  const offered = new Set(await noteOffered(db, ready.map((command) => command.id)));
  const rotations = await listRotations(store, size);
  const bundles = ready.filter((command) => offered.has(command.id))
    .map((command) => bundleOf(store, command, rotations, size));
  return await Promise.all(bundles);
}

/** Returns whether a command is issued to a device that it has not acknowledged. */
export async function isCommandComing({ db }: Store, deviceId: string): Promise<boolean> {
  return (await listUndelivered(db, deviceId, 1)).length > 0;
}

/** Returns the receipts below a size that hand over to another key, the oldest first. A device skips those that it knows. */
export async function listRotations(store: Store, size: number): Promise<StoredReceipt[]> {
  const category = "key_rotated";
  const newest = await listReceipts(store, { category, limit: MAX_ROTATIONS, before: size });
  return newest.reverse();
}

async function bundleOf(
  store: Store,
  command: DeviceCommandRecord,
  rotations: readonly StoredReceipt[],
  size: number,
): Promise<DeviceBundle> {
  const { issuedReceipt, sequence, salt, approvalId } = command;
  const issued = await getReceipt(store, issuedReceipt!);
  const receipts = [issued!, ...rotations];
  return {
    command: toDeviceCommand(command, sequence!),
    salt: salt!.toString("hex"),
    records: receipts.map(({ text }) => text),
    proofs: await Promise.all(receipts.map((receipt) => proofOf(store, receipt, size))),
    approvals: approvalId === null ? [] : await approvalsOf(store.db, approvalId),
    ...await releaseOf(store, command, size),
  };
}

/** Returns the signatures of approvers, and what the passkeys of approvers have signed. */
async function approvalsOf(db: Db, approvalId: string): Promise<DeviceBundle["approvals"]> {
  const [signatures, statements, named, approval] = await Promise.all([
    listSignatures(db, approvalId),
    listStatements(db, approvalId),
    getApprovers(db),
    getApproval(db, approvalId),
  ]);
  const salt = approval!.actionSalt.toString("hex");
  const passkeys = new Set(named?.approvers.passkeys?.map(({ credential_id }) => credential_id));
  const byPasskey = statements.filter(({ assertion }) => passkeys.has(assertion.credential_id));
  return [
    ...signatures,
    ...byPasskey.map(({ statement, list, assertion }) => ({
      salt,
      statement,
      ...(list ? { list } : {}),
      assertion,
    })),
  ];
}

/** Returns the proof that a command is a released script, which was requested before the command. */
async function releaseOf(
  store: Store,
  { script }: DeviceCommandRecord,
  size: number,
): Promise<Pick<DeviceBundle, "release">> {
  const version = script && await findScriptVersion(store.db, script.sha256);
  const receipt = version && await getReceipt(store, version.receiptId);
  if (!receipt || receipt.position >= size) return {};
  return {
    release: {
      script: toDeviceScript(version),
      salt: version.salt.toString("hex"),
      record: receipt.text,
      proof: await proofOf(store, receipt, size),
    },
  };
}

async function proofOf(
  store: Store,
  { position, id, text }: StoredReceipt,
  size: number,
): Promise<DeviceBundle["proofs"][number]> {
  const hashes = await buildInclusionProof(position, size, createHashReader(store), sha256);
  return {
    leaf: formatLeaf({ position, id, text }, (bytes) => toHex(sha256(bytes))),
    hashes: hashes.map(toHex),
  };
}

const toHex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");
