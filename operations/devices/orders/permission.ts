import { Problem, SHIPPED_RULES } from "../../../contract/mod.ts";
import { canonicalize } from "../../../ledger/mod.ts";
import type { Db } from "../../../store/mod.ts";
import { findStop } from "../../../store/calls/mod.ts";
import { type DeviceCommandRecord, getApprovers, getDevice } from "../../../store/devices/mod.ts";
import { findValidKeys } from "../../../store/keys/mod.ts";
import { resolveCommand, type ResolvedCommand } from "./resolve.ts";
import {
  decideAgain,
  isWorkersOwn,
  namesOf,
  type Platform,
  type ServerCallDecision,
} from "../../../calls/mod.ts";

/** Name of the operation by which commands are ordered: stops name it. */
export const COMMAND_OPERATION = "devices.command";

/** People who must approve arguments that no script has, whatever the rules say. */
const FREE_APPROVERS = SHIPPED_RULES["free-arguments"].approvers;

/** A reason for which a command is not issued. */
export interface CommandObstacle {
  /** A word or two with underscores. */
  readonly code: "key_revoked" | "stopped" | "device_quarantined" | "not_permitted";
  /** A sentence without a full stop. */
  readonly why: string;
}

/** Returns how many people must approve besides the caller. @param isFree no script has the arguments */
export function approversOf(
  isFree: boolean,
  { approvers, callerApproves }: Pick<ServerCallDecision, "approvers" | "callerApproves">,
): number {
  return isFree ? Math.max(approvers, FREE_APPROVERS - (callerApproves ? 1 : 0)) : approvers;
}

/** Returns how many approvers of the tenant must sign a command, and how many there are. */
export async function signaturesOf(
  db: Db,
  { script }: Pick<ResolvedCommand, "script">,
): Promise<{ readonly signatures: number; readonly approvers: number }> {
  const { signatures_required = 0, keys = [], passkeys = [] } = (await getApprovers(db))
    ?.approvers ?? {};
  // Of arguments that no script has, devices want two signatures wherever they want any.
  const isFree = signatures_required > 0 && script === null;
  const signatures = isFree ? Math.max(signatures_required, 2) : signatures_required;
  return { signatures, approvers: keys.length + passkeys.length };
}

/**
 * Returns how many people must have approved a command before it is issued. Of one that a server has stored, the worker
 * decides that by itself: it makes the command again from what the server was asked for.
 */
export async function approversWanted(
  platform: Platform,
  command: DeviceCommandRecord,
): Promise<number | CommandObstacle> {
  if (isWorkersOwn(command)) return command.needed;
  const { db } = platform.store;
  const { request, deviceId: device_id, requestedByKey: keyId, storedBy } = command;
  const refuse = (why: string) => ({ code: "not_permitted", why }) as const;
  if (request === null) return refuse("nobody has asked for it");
  try {
    const device = await getDevice(db, device_id);
    const again = await resolveCommand(db, request, device);
    if (canonicalize(partsOf(again)) !== canonicalize(partsOf(command))) {
      return refuse("it is not what was asked for");
    }
    const input = { device_id, ...request };
    const decisionId = command.id.replace(/^CMD-/, "GOV-");
    const call = { operation: COMMAND_OPERATION, input, keyId, storedBy, decisionId };
    const { signatures } = await signaturesOf(db, again);
    const decision = await decideAgain(platform, call);
    const approvers = approversOf(again.script === null, decision);
    if (decision.passkey && approvers > 0 && !command.grounds.passkey) {
      return refuse("its rule takes passkeys now, and people were asked for none");
    }
    return Math.max(approvers, signatures);
  } catch (error) {
    if (error instanceof Problem && error.rule.status < 500) return refuse(error.message);
    throw error;
  }
}

/** Returns what a device is told to do. */
function partsOf(
  { argv, user, timeout_seconds, output_bytes, read_only, script }: Omit<
    ResolvedCommand,
    "description"
  >,
) {
  return { argv: [...argv], user, timeout_seconds, output_bytes, read_only, script };
}

/** Returns why a command must not be issued now, whoever has approved it; undefined: it may. */
export async function findObstacle(
  { store, operations }: Pick<Platform, "store" | "operations">,
  { deviceId, requestedByKey }: DeviceCommandRecord,
): Promise<CommandObstacle | undefined> {
  const { db } = store;
  if (requestedByKey !== null && (await findValidKeys(db, [requestedByKey])).length === 0) {
    return { code: "key_revoked", why: "the key that asked was revoked or has expired since" };
  }
  const operation = operations.get(COMMAND_OPERATION);
  const names = operation ? namesOf(operation) : [COMMAND_OPERATION];
  const stop = await findStop(db, { keyId: requestedByKey, names });
  if (stop) return { code: "stopped", why: `such calls are stopped: ${stop.reason}` };
  const device = await getDevice(db, deviceId);
  if (device?.status === "active") return undefined;
  return { code: "device_quarantined", why: `${deviceId} is quarantined: ${device?.quarantine}` };
}
