/** Scenarios of mail whose histories are recorded. */
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { WorkflowHandle } from "@temporalio/client";
import { type MailOrder, receiveMail, sendMail } from "../../operations/mail/sending/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { startReceiver } from "../../integrations/mail/mod.ts";
import type { VoteMove } from "../../store/approvals/mod.ts";
import { addContact } from "../../store/crm/mod.ts";
import { testFolder } from "../_run.ts";
import type { TestLoop } from "./_loop.ts";
import { listReplies } from "../../store/mail/mod.ts";

/** Functions by which scenarios act on runs. */
interface Ways {
  ended(run: WorkflowHandle): Promise<WorkflowHandle>;
  speak(run: WorkflowHandle, move: VoteMove, who: string): Promise<unknown>;
}

/** Returns the scenarios by the names of their files. */
export function mailScenarios(
  loop: TestLoop,
  { ended, speak }: Ways,
): Record<string, () => Promise<WorkflowHandle>> {
  async function send(id: string, fields: Partial<MailOrder> = {}): Promise<WorkflowHandle> {
    const { workflow_id } = await sendMail(loop, {
      id: `EML-0000000000${id}`,
      kind: "mail",
      to: "ops@sealoop.local",
      subject: "Maintenance",
      body: "On Sunday from 2 to 3.",
      askedBy: "recorder",
      askedByKey: null,
      ...fields,
    });
    return loop.client.workflow.getHandle(workflow_id);
  }
  const flagged = { body: "Charge 4111 1111 1111 1111" };
  const approvalOf = (run: WorkflowHandle) =>
    loop.client.workflow.getHandle(run.workflowId.replace("sendEmail-EML", "approval-APR"));
  return {
    "sendEmail.retried": async () => {
      const run = await send("a1");
      const receiver = await new Promise<Awaited<ReturnType<typeof startReceiver>>>(
        (resolve, reject) =>
          setTimeout(() => startReceiver(loop.config).then(resolve, reject), 500),
      );
      await ended(run);
      await receiver.close();
      return run;
    },
    "sendEmail.approved": async () => {
      const receiver = await startReceiver(loop.config);
      const run = await send("a2", flagged);
      await speak(approvalOf(run), "approved", "ann");
      await ended(run);
      await receiver.close();
      return run;
    },
    "sendEmail.denied": async () => {
      const run = await send("a3", flagged);
      await speak(approvalOf(run), "denied", "ann");
      return await ended(run);
    },
    "emailReply.held": async () => {
      const bytes = Buffer.from(
        "From: ops@sealoop.local\r\nSubject: Status\r\n\r\nWhich approvals wait?\r\n",
      );
      await receiveMail(loop, { bytes });
      const { replies: [reply] } = await listReplies(loop.store.db, 1);
      return await ended(loop.client.workflow.getHandle(`emailReply-${reply!.id}`));
    },
    "crmSequence.completed": async () => {
      const fields = { name: "Ada", email: "ada@sealoop.local" };
      const consent = { email: "opt_in", basis: "form" } as const;
      const contact_id = await addContact(loop.store.db, fields, consent);
      const run = await loop.client.workflow.start(WORKFLOW.crmSequence, {
        taskQueue: TASK_QUEUE.itsm,
        workflowId: `crmSequence-${contact_id}-recorded`,
        args: [{ contact_id, sequence: "recorded", key_id: null }],
      });
      return await ended(run);
    },
    "mailbox.running": async () => {
      const options = { taskQueue: TASK_QUEUE.itsm, workflowId: "mailbox", args: [] };
      const run = await loop.client.workflow.start(WORKFLOW.mailbox, options);
      await sleep(500);
      return run;
    },
    "sendEmail.cancelled": async () => {
      const run = await send("a4", flagged);
      await run.cancel();
      return await ended(run);
    },
  };
}

/** Writes the rules of mail. @returns path */
export async function writeRecorderSequences(): Promise<string> {
  const step = (after: string) => ({ after, subject: "Hello {name}", body: "How are you?" });
  const path = join(await testFolder(), "mail.yaml");
  const sequences = [{ sequence: "recorded", steps: [step("0s"), step("1s")] }];
  await writeFile(path, JSON.stringify({ sequences }));
  return path;
}
