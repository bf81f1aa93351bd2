import { emailWorkflowId } from "../../contract/domain/mod.ts";
import type { ActKind } from "../acts/mod.ts";
import { endEmailActivities } from "./end.ts";

/** Mail that has not ended. It is `unknown` where the server may have it. */
export const mailKind: ActKind = {
  workflowId: emailWorkflowId,
  async end(owner, { id: email_id }, run) {
    const { stopEmail, sealEmail } = endEmailActivities(owner);
    await stopEmail({ email_id });
    await sealEmail({ email_id, run });
    return true;
  },
};
