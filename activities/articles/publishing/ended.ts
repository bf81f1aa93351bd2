import { forTenant, getRunStatus } from "../../../calls/mod.ts";
import { unlessAway } from "../../../operations/integrations/acts/mod.ts";
import { type PublishResult, publishWorkflowId } from "../../../contract/domain/mod.ts";
import { listTenants } from "../../../store/keys/mod.ts";
import { listOpenItems } from "../../../store/articles/mod.ts";
import type { ActivityParts } from "../../parts.ts";
import { publishItemActivities } from "./publish.ts";

/**
 * Ends items of all tenants whose workflow was ended from outside, or never began, and seals that. Safe to repeat: an item
 * ends once.
 *
 * @returns how many
 */
export async function settleEndedItems(parts: ActivityParts): Promise<number> {
  let settled = 0;
  for (const tenant of await listTenants(parts.store.db)) {
    const owner = forTenant(parts, tenant);
    const { stopItem } = publishItemActivities(owner);
    for (const { item_id } of await listOpenItems(owner.store.db)) {
      const workflow_id = publishWorkflowId(item_id);
      const { status, runId = "gone" } = await getRunStatus(parts.temporal, workflow_id);
      if (status === "RUNNING") continue;
      const order = { item_id, run: { workflow_id, run_id: runId } };
      if (await unlessAway<PublishResult | undefined>(stopItem(order), undefined)) settled++;
    }
  }
  return settled;
}
