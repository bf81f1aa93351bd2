import { type ApprovalSubject, getRunStatus, type Platform } from "../../calls/mod.ts";
import { Problem } from "../../contract/mod.ts";
import {
  emailWorkflowId,
  TASK_QUEUE,
  tenantAttribute,
  WORKFLOW,
} from "../../contract/domain/mod.ts";
import { getEmail, mayReviveEmail, REVIVABLE_CODES } from "../../store/mail/mod.ts";

/** A mail that people decide about. */
export const emailSubject: ApprovalSubject<Platform> = {
  ids: /^EML-[0-9a-f]{12}$/,

  async end(db, id) {
    const email = await getEmail(db, id);
    const isOpen = email?.state === "held" || REVIVABLE_CODES.includes(email?.code ?? "");
    return isOpen ? undefined : email?.state;
  },

  /**
   * Sends a mail that people first denied, or did not decide about in time, and have approved since. A run that still
   * waits goes on by itself. A mail has one run at a time, and only that run lets it be sent, so that nobody finds an open
   * mail without a run meanwhile.
   */
  async resume({ store, temporal }, { subject }) {
    const workflowId = emailWorkflowId(subject);
    if (!await mayReviveEmail(store.db, subject)) return;
    const { status } = await getRunStatus(temporal, workflowId);
    if (status === "RUNNING") {
      throw new Problem("Unavailable", `The earlier run of ${workflowId} has not ended yet`);
    }
    const { workflow } = await temporal();
    await workflow.start(WORKFLOW.sendEmail, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId,
      workflowIdConflictPolicy: "USE_EXISTING",
      args: [{ email_id: subject }],
      typedSearchAttributes: [tenantAttribute(store.tenant)],
      staticSummary: `Sends ${subject}, which people have approved`,
    });
  },
};
