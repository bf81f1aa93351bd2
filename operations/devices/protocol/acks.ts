import { hash } from "node:crypto";
import { type CommandAck, DEVICE_LIMITS } from "../../../contract/domain/mod.ts";
import type { Db } from "../../../store/mod.ts";
import {
  type DeviceRecord,
  getDeviceCommand,
  hasEgressStatement,
  keepOutput,
  noteDelivered,
} from "../../../store/devices/mod.ts";

/**
 * Takes what a device's heartbeat tells of a command. Nobody signs that, so that it decides nothing: a command counts as
 * delivered, and its output is kept where it is the one whose hash the device's runner has stated and had sealed.
 */
export async function takeAck(
  trx: Db,
  { id: deviceId }: DeviceRecord,
  { command_id, result, code, salt = "", output = "" }: CommandAck,
): Promise<void> {
  if (result === "busy" || result === "stale") return;
  if (result !== "output") return await noteDelivered(trx, command_id, deviceId, code ?? null);
  const command = await getDeviceCommand(trx, command_id);
  if (command?.deviceId !== deviceId || command.outputSha256 === null) return;
  const bytes = Buffer.from(output, "base64");
  const stated = hash("sha256", Buffer.concat([Buffer.from(salt, "hex"), bytes]));
  if (stated !== command.outputSha256 || bytes.length > DEVICE_LIMITS.outputBytes) return;
  if (await hasEgressStatement(trx, deviceId, command_id)) {
    await keepOutput(trx, command_id, bytes);
  }
}
