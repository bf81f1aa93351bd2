import { findStop } from "../../store/calls/mod.ts";
import { type DeviceCommandRecord, getDevice } from "../../store/devices/mod.ts";
import { findValidKeys } from "../../store/keys/mod.ts";
import { namesOf, type Platform } from "../platform.ts";

/** Name of the operation by which commands are ordered: stops name it. */
export const COMMAND_OPERATION = "devices.command";

/** A reason for which a command is not issued. */
export interface CommandObstacle {
  /** A word or two with underscores. */
  readonly code: "key_revoked" | "stopped" | "device_quarantined";
  /** A sentence without a full stop. */
  readonly why: string;
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
