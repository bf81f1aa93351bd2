/** Recovery of a lost call that orders one command, whose id is made from the call's. */
import type { LostCall, Recovery } from "../../../contract/mod.ts";
import { commandWorkflowId } from "../../../contract/domain/mod.ts";
import { dropDeviceCommand, getDeviceCommand } from "../../../store/devices/mod.ts";
import {
  idOfCall,
  notNoted,
  recoverRecord,
  type RecoveryParts,
} from "../../../calls/recover/mod.ts";
import { describeCommand } from "./order.ts";

/** Returns the id of the command that a call orders. */
export function commandIdOf(decisionId: string | undefined): string {
  return `CMD-${idOfCall(decisionId, 12)}`;
}

/** Recovers a lost call. A stored command without a workflow was never issued, and goes. */
export async function recoverCommand(parts: RecoveryParts, call: LostCall): Promise<Recovery> {
  const { db } = parts.store;
  const command = await getDeviceCommand(db, commandIdOf(call.decisionId));
  if (!command) return notNoted(call);
  return await recoverRecord(parts, call, {
    workflowId: commandWorkflowId(command.id),
    ids: { command_id: command.id },
    output: describeCommand(command),
    drop: () => dropDeviceCommand(db, command.id),
  });
}
