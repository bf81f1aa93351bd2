import { commandWorkflowId } from "../../contract/domain/mod.ts";
import type { ActKind } from "../acts/mod.ts";
import { commandActivities } from "./commands.ts";
import { followCommandActivities } from "./follow.ts";

/**
 * Commands for devices that have not ended. They end at once where their device can't have got them, else when their time
 * is over.
 */
export const commandKind: ActKind = {
  workflowId: commandWorkflowId,
  async end(owner, { id: command_id }, run) {
    await commandActivities(owner).stopCommand({ command_id, run });
    const { result } = await followCommandActivities(owner).followCommand({ command_id, run });
    return result !== null;
  },
};
