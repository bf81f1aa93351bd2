import { hash } from "node:crypto";
import { APPROVAL_DOMAIN, type DeviceCommand } from "../../../contract/domain/mod.ts";
import { canonicalize } from "../../../ledger/mod.ts";
import type { NewDeviceCommand } from "../../../store/devices/mod.ts";

/** A command as it is asked for: what people approve, and what approvers sign the hash of. */
export type CommandAction = Omit<DeviceCommand, "sequence" | "approval">;

/** Returns a command as people approve it. Its number is given when it is issued. */
export function actionOfCommand(command: NewDeviceCommand): CommandAction {
  return {
    command_id: command.id,
    device_id: command.deviceId,
    argv: command.argv,
    user: command.user,
    timeout_seconds: command.timeout_seconds,
    output_bytes: command.output_bytes,
    read_only: command.read_only,
    script: command.script,
    expires_at: command.expires_at,
  };
}

/** Returns a command as its device is given it. */
export function toDeviceCommand(command: NewDeviceCommand, sequence: number): DeviceCommand {
  const action = actionOfCommand(command);
  const { approvalId, needed } = command;
  return {
    ...action,
    sequence,
    approval: approvalId === null
      ? null
      : { approval_id: approvalId, action_sha256: hashAction(action), needed },
  };
}

/** Returns the hash of what people approve, hex. */
export function hashAction(action: CommandAction): string {
  return hash("sha256", canonicalize(action));
}

/** Returns the text that an approver signs. */
export function approvalText(
  approvalId: string,
  { command_id, device_id }: Pick<CommandAction, "command_id" | "device_id">,
  actionSha256: string,
): string {
  return APPROVAL_DOMAIN +
    canonicalize({ action_sha256: actionSha256, approval_id: approvalId, command_id, device_id });
}
