import { Problem } from "../../contract/mod.ts";
import { emailWorkflowId, TASK_QUEUE, tenantAttribute, WORKFLOW } from "../../domain/mod.ts";
import { mayReviveEmail } from "../../store/crm/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { getRunStatus } from "../run_status.ts";

/** Creates the activity that goes on with mail whose approval was reopened. */
export function resumeEmailActivities({ store, temporal }: ActivityParts) {
  /**
   * Sends a mail that people first denied, or did not decide about in time, and have approved since. A run that still
   * waits goes on by itself. Safe to repeat: a mail has one run at a time, and only that run lets it be sent, so that
   * nobody finds an open mail without a run meanwhile.
   */
  async function resumeEmail({ email_id }: { readonly email_id: string }): Promise<void> {
    const workflowId = emailWorkflowId(email_id);
    if (!await mayReviveEmail(store.db, email_id)) return;
    const { status } = await getRunStatus(temporal, workflowId);
    if (status === "RUNNING") {
      throw new Problem("Unavailable", `The earlier run of ${workflowId} has not ended yet`);
    }
    const { workflow } = await temporal();
    await workflow.start(WORKFLOW.sendEmail, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId,
      workflowIdConflictPolicy: "USE_EXISTING",
      args: [{ email_id }],
      typedSearchAttributes: [tenantAttribute(store.tenant)],
      staticSummary: `Sends ${email_id}, which people have approved`,
    });
  }

  return { resumeEmail };
}
