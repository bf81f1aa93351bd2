import { log } from "@temporalio/activity";
import { forTenant, getRunStatus } from "../../calls/mod.ts";
import { commandWorkflowId } from "../../contract/domain/mod.ts";
import { listOpenDeviceCommands } from "../../store/devices/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { commandActivities } from "./commands.ts";
import { followCommandActivities } from "./follow.ts";

/** Commands that are looked at at a time. */
const CONCURRENCY = 16;

/** Creates the activity about commands whose workflow was ended from outside. */
export function endedCommandActivities(parts: ActivityParts) {
  /**
   * Ends commands of all tenants whose workflow was ended from outside: at once where their device can't have got them,
   * else when their time is over. Safe to repeat: a command ends once. One that can't be looked at is left to the next time.
   *
   * @returns how many
   * @throws {Error} none could be looked at
   */
  async function settleEndedCommands(): Promise<number> {
    const open: { readonly owner: ActivityParts; readonly command_id: string }[] = [];
    for (const tenant of await listTenants(parts.store.db)) {
      const owner = forTenant(parts, tenant);
      for (const command_id of await listOpenDeviceCommands(owner.store.db)) {
        open.push({ owner, command_id });
      }
    }
    const total = open.length;
    const failures: unknown[] = [];
    let settled = 0;
    await Promise.all(Array.from({ length: CONCURRENCY }, async () => {
      for (let next = open.pop(); next; next = open.pop()) {
        try {
          if (await settle(next.owner, next.command_id)) settled++;
        } catch (error) {
          failures.push(error);
          log.warn(`${next.command_id} can't be looked at`, { error: String(error) });
        }
      }
    }));
    if (total > 0 && failures.length === total) throw failures[0];
    return settled;
  }

  /** Ends a command whose workflow was ended. @returns whether it has ended */
  async function settle(owner: ActivityParts, command_id: string): Promise<boolean> {
    const workflow_id = commandWorkflowId(command_id);
    const { status, runId = "gone" } = await getRunStatus(parts.temporal, workflow_id);
    if (status === "RUNNING") return false;
    const order = { command_id, run: { workflow_id, run_id: runId } };
    await commandActivities(owner).stopCommand(order);
    const { result } = await followCommandActivities(owner).followCommand(order);
    return result !== null;
  }

  return { settleEndedCommands };
}
