import { forTenant, getRunStatus } from "../../calls/mod.ts";
import { emailWorkflowId } from "../../contract/domain/mod.ts";
import { listTenants } from "../../store/keys/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { endEmailActivities } from "./end.ts";
import { listOpenEmails } from "../../store/mail/mod.ts";

/** Creates the activity about mail whose workflow was ended from outside. */
export function endedEmailActivities(parts: ActivityParts) {
  /**
   * Ends mail of all tenants whose workflow was ended from outside, and seals that: as `unknown` where the server may
   * have it. Safe to repeat: a mail ends once.
   *
   * @returns how many
   */
  async function settleEndedMails(): Promise<number> {
    let settled = 0;
    for (const tenant of await listTenants(parts.store.db)) {
      const owner = forTenant(parts, tenant);
      const { stopEmail, sealEmail } = endEmailActivities(owner);
      for (const email_id of await listOpenEmails(owner.store.db)) {
        const workflow_id = emailWorkflowId(email_id);
        const { status, runId = "gone" } = await getRunStatus(parts.temporal, workflow_id);
        if (status === "RUNNING") continue;
        await stopEmail({ email_id });
        await sealEmail({ email_id, run: { workflow_id, run_id: runId } });
        settled++;
      }
    }
    return settled;
  }

  return { settleEndedMails };
}
