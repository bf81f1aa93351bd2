import { forTenant } from "../../calls/mod.ts";
import { commandWorkflowId } from "../../domain/mod.ts";
import { listOpenDeviceCommands, listTenants } from "../../store/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { getRunStatus } from "../run_status.ts";
import { commandActivities } from "./commands.ts";
import { followCommandActivities } from "./follow.ts";

/** Creates the activity about commands whose workflow was ended from outside. */
export function endedCommandActivities(parts: ActivityParts) {
  /**
   * Ends commands of all tenants whose workflow was ended from outside: at once where their device can't have got them,
   * else when their time is over. Safe to repeat: a command ends once.
   *
   * @returns how many
   */
  async function settleEndedCommands(): Promise<number> {
    let settled = 0;
    for (const tenant of await listTenants(parts.store.db)) {
      const owner = forTenant(parts, tenant);
      for (const command_id of await listOpenDeviceCommands(owner.store.db)) {
        const workflow_id = commandWorkflowId(command_id);
        const { status, runId = "gone" } = await getRunStatus(parts.temporal, workflow_id);
        if (status === "RUNNING") continue;
        const order = { command_id, run: { workflow_id, run_id: runId } };
        await commandActivities(owner).stopCommand(order);
        const { result } = await followCommandActivities(owner).followCommand(order);
        if (result) settled++;
      }
    }
    return settled;
  }

  return { settleEndedCommands };
}
