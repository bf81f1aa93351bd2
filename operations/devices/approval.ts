import { sha256 } from "../../calls/approvals/mod.ts";
import type { ApprovalSubject, Platform } from "../../calls/mod.ts";
import { hasCommandEnded, REPLACE_DEVICE } from "../../contract/domain/mod.ts";
import { canonicalize, randomHex, requestSeal } from "../../ledger/mod.ts";
import type { ApprovalRecord } from "../../store/approvals/mod.ts";
import {
  getApprovers,
  getDeviceCommand,
  quarantineDevice,
  setReplaced,
} from "../../store/devices/mod.ts";
import { CommandInput } from "./_commands.ts";
import {
  approversOf,
  COMMAND_OPERATION,
  commandRefusal,
  findObstacle,
  orderCommand,
} from "./orders/mod.ts";

/** A command on a device. */
export const commandSubject: ApprovalSubject<Platform> = {
  ids: /^CMD-[0-9a-f]{12}$/,

  async end(db, id) {
    const command = await getDeviceCommand(db, id);
    return command && hasCommandEnded(command.status) ? command.status : undefined;
  },

  async refusal(db, id, vote) {
    const command = await getDeviceCommand(db, id);
    return command && await commandRefusal(db, command, vote);
  },

  async madeBy(db, id) {
    const command = await getDeviceCommand(db, id);
    if (!command?.request || command.requestedByKey === null) return undefined;
    const fixed = { device_id: command.deviceId };
    return { operation: COMMAND_OPERATION, input: { ...command.request, ...fixed }, fixed };
  },

  async offer(parts, { input, decisionId, needed, ...order }) {
    const { device_id, ...request } = CommandInput.parse(input);
    const isFree = request.command !== undefined;
    const { approval_id } = await orderCommand(parts, {
      ...request,
      ...order,
      id: decisionId.replace(/^GOV/, "CMD"),
      deviceId: device_id,
      needed: approversOf(isFree, { approvers: needed, callerApproves: false }),
    });
    return approval_id!;
  },

  async obstacle(parts, id) {
    const command = await getDeviceCommand(parts.store.db, id);
    return command && (await findObstacle(parts, command))?.why;
  },
};

/** A new device that takes the place of one whose keys are lost. */
export const deviceSubject: ApprovalSubject<Platform> = {
  ids: /^DEV-[0-9a-f]{12}$/,

  /** Does what people have approved: the database says what. */
  async resume({ store: { db }, config: { settings } }, approval) {
    const { kind, device_id, replaces } = approval.action as Record<string, string>;
    if (approval.status !== "approved" || kind !== REPLACE_DEVICE || !isShown(approval)) return;
    await db.transaction(async (trx) => {
      // As many people as decide about the commands that it will get, whatever the server that has asked them says.
      const { signatures_required = 0 } = (await getApprovers(trx))?.approvers ?? {};
      const needed = Math.max(settings.SEALOOP_APPROVERS, signatures_required);
      if (approval.approvers.length < needed) return;
      if (!await setReplaced(trx, device_id!, replaces!)) return;
      await quarantineDevice(trx, replaces!, "replaced");
      await requestSeal(trx, {
        id: randomHex(16),
        category: "device_replaced",
        actor: "people",
        subject: device_id!,
        action: "devices.replace",
        outcome: "success",
        details: { device_id: device_id!, replaces: replaces!, approval_id: approval.id },
      });
    });
  },
};

/** Returns true where people were shown what they have approved. */
function isShown({ action, actionSha256 }: ApprovalRecord): boolean {
  return sha256(canonicalize(action)) === actionSha256;
}
