import { publishWorkflowId } from "../../../contract/domain/mod.ts";
import type { ActKind } from "../../acts/mod.ts";
import { publishItemActivities } from "./publish.ts";

/** Items of the pipeline that wait for people, or are being published. */
export const itemKind: ActKind = {
  workflowId: publishWorkflowId,
  async end(owner, { id: item_id }, run) {
    await publishItemActivities(owner).stopItem({ item_id, run });
    return true;
  },
};
