import { Problem } from "../../../contract/mod.ts";
import type { DeviceStatement } from "../../../contract/domain/mod.ts";
import { verifyEd25519 } from "../../../ledger/crypto/mod.ts";
import {
  canonicalize,
  formatReceiptTime,
  getReceipt,
  ReceiptConflict,
  requestSeal,
  type Sealer,
} from "../../../ledger/mod.ts";
import { type Db, keyedHash, makeSalt, type Store } from "../../../store/mod.ts";
import {
  addStatement,
  type DeviceCommandRecord,
  type DeviceRecord,
  endDeviceCommand,
  getStatement,
  getTime,
  lockDeviceCommand,
  noteBegun,
  notifyDevice,
  type StatementRecord,
} from "../../../store/devices/mod.ts";
import { listRotations } from "./bundles.ts";
import { quarantine } from "./quarantine.ts";

/** A statement that is in the ledger. */
export interface SealedStatement {
  readonly receiptId: string;
  readonly sha256: string;
  readonly position: number;
  /** Exported record of the receipt. */
  readonly record: string;
  /** Salt of the receipt's commitment to the statement, hex. */
  readonly salt: string;
  /** Exported receipts that hand over to later keys of the ledger, oldest first. */
  readonly succession: readonly string[];
}

/**
 * Seals a statement of a device's runner, and moves its command by it. Safe to repeat: device and number name the
 * statement, and the same statement is the same receipt.
 *
 * @throws {Problem} `Forbidden`: the runner has not signed it; `Conflict`: the device has stated something else under this
 *   number, and is quarantined; `Unavailable`: it is not sealed in time, though it will be
 */
export async function sealStatement(
  { store, sealer }: { readonly store: Store; readonly sealer: Sealer },
  device: DeviceRecord,
  statement: DeviceStatement,
): Promise<SealedStatement> {
  const { signature, ...signed } = statement;
  const text = Buffer.from(canonicalize(signed));
  if (!verifyEd25519(device.runnerKey, text, Buffer.from(signature, "hex"))) {
    throw new Problem("Forbidden", `The runner of ${device.id} has not signed this statement`);
  }
  const kept = await keepStatement(store, device, statement);
  if (!kept) throw await rolledBack(store, device, statement.sequence);
  const { position, hash } = await sealer.sealed(kept.receiptId);
  // Its output, and what it has changed, come with the next heartbeat.
  if (statement.status !== "begun") await notifyDevice(store.db, device.id);
  const receipt = await getReceipt(store, kept.receiptId);
  const rotations = await listRotations(store, position);
  return {
    receiptId: kept.receiptId,
    sha256: hash,
    position,
    record: receipt!.text,
    salt: kept.salt.toString("hex"),
    succession: rotations.map((one) => one.text),
  };
}

/** Stores a statement and requests its receipt, once. @returns undefined: another one has its number */
async function keepStatement(
  store: Store,
  device: DeviceRecord,
  statement: DeviceStatement,
): Promise<StatementRecord | undefined> {
  const { sequence, command_id: commandId = null } = statement;
  const body = canonicalize(statement);
  const hash = await keyedHash(store, "device_statements", device.id, String(sequence));
  const record: StatementRecord = {
    deviceId: device.id,
    sequence,
    commandId,
    body,
    salt: makeSalt(),
    receiptId: hash.toString("hex", 0, 8),
  };
  try {
    return await store.asTenant(device.tenant).transaction(async (trx) => {
      const command = commandId === null ? undefined : await lockDeviceCommand(trx, commandId);
      if (!await addStatement(trx, record)) {
        const known = await getStatement(trx, device.id, sequence);
        return known?.body === body ? known : undefined;
      }
      const at = await getTime(trx);
      await requestReceipt(trx, record, statement, at);
      if (command?.deviceId === device.id) await moveCommand(trx, command, statement, record, at);
      return record;
    });
  } catch (error) {
    if (error instanceof ReceiptConflict) return undefined; // of before the database was restored
    throw error;
  }
}

async function requestReceipt(
  trx: Db,
  { receiptId, deviceId, salt }: StatementRecord,
  statement: DeviceStatement,
  at: Date,
): Promise<void> {
  const { action, command_id, phase, status, sequence } = statement;
  const { code, exit_code, bytes, output_sha256, destination_class } = statement;
  const isEgress = action === "data_egress";
  const told = { command_id, code, exit_code, bytes, output_sha256, destination_class };
  const details = Object.entries(told).filter(([, value]) => value !== undefined);
  await requestSeal(trx, {
    id: receiptId,
    category: isEgress ? "data_egress" : "device_command",
    actor: `device:${deviceId}`,
    subject: deviceId,
    action: isEgress ? "sending" : phase,
    outcome: status,
    timestamp: formatReceiptTime(at),
    details: { sequence, ...Object.fromEntries(details) },
    evidence: { statement },
    salts: { statement: salt },
  });
}

/**
 * Moves a command by what its device states. The first end that a device states stays, but for a refusal: what was refused
 * may have been an altered copy.
 */
async function moveCommand(
  trx: Db,
  command: DeviceCommandRecord,
  statement: DeviceStatement,
  { receiptId }: StatementRecord,
  at: Date,
): Promise<void> {
  const { id, status, sequence, endedBy, expires_at } = command;
  if (sequence === null || statement.action !== "command_execution") return;
  const isOver = endedBy === "device" && status !== "refused";
  if (isOver) return;
  if (statement.status === "begun") {
    // Later, the device takes the receipt's time for the reason not to run it.
    if (at.getTime() < Date.parse(expires_at)) await noteBegun(trx, id, receiptId, at);
    return;
  }
  if (statement.phase !== "ended" || statement.status === "sending") return;
  if (statement.status === "refused" && (command.begunAt !== null || endedBy === "device")) return;
  await endDeviceCommand(trx, id, {
    status: statement.status,
    code: statement.code ?? null,
    by: "device",
    receiptId,
    exitCode: statement.exit_code,
    outputSha256: statement.output_sha256,
  });
}

/** Quarantines a device whose journal is an old copy, or a clone's. */
async function rolledBack(store: Store, device: DeviceRecord, sequence: number): Promise<Problem> {
  const { id, tenant } = device;
  const code = "journal_rolled_back";
  await quarantine(store.asTenant(tenant), device, code);
  const detail =
    `${id} has stated something else as number ${sequence}: its journal is an old copy, ` +
    `or another machine's. It is given no commands until a person has decided: npm run devices -- release ${id}`;
  return new Problem("Conflict", detail, { body: { detail, code } });
}
