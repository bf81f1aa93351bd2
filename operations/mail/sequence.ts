import { z } from "zod";
import { checkMail } from "./sending/mod.ts";
import { operation, type Platform, unknownRecord } from "../../calls/mod.ts";
import { startRun } from "../../calls/recover/mod.ts";
import { describeUnknownName, Problem } from "../../contract/mod.ts";
import { sequenceWorkflowId, TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { readMailRules } from "../../integrations/mail/mod.ts";
import { getContact } from "../../store/crm/mod.ts";
import { EXAMPLE_RUN_ID } from "../schemas/mod.ts";
import { FULL } from "../scopes.ts";

/** Starts a sequence of mails. */
export const triggerWorkflow = operation({
  name: "mail.sequence",
  group: "crm",
  summary: "Send a contact a sequence of mails, which a reply or an opt-out ends",
  description:
    "`workflow` is a sequence of the file sealoop.mail.yaml, or a shipped one (`welcome`). Each mail is reviewed and sent " +
    "like any other. A contact is in a sequence once at a time: another call joins it.",
  effect: "run",
  access: "key",
  input: z.object({
    contact_id: z.string().regex(/^CON-[0-9a-f]{12}$/, "Expected CON- and 12 hex digits")
      .describe("The contact"),
    workflow: z.string().min(1).max(40).describe("Name of the sequence"),
  }),
  output: z.object({ workflow_id: z.string(), run_id: z.string() }),
  tool: { crm_trigger_workflow: FULL },
  presentation: {
    toolText: {
      crm_trigger_workflow:
        "Each mail is reviewed and sent like any other. A contact is in a sequence once at a time.",
    },
    hints: { destructive: false, openWorld: true },
    errors: ["Denied", "NotConfigured", "NotFound", "Unavailable"],
  },
  governance: { rule: "reviewed-mail", check },
  durability: { startsRun: "ids" },
  example: {
    input: { contact_id: "CON-5b1e09c77a42", workflow: "welcome" },
    output: { workflow_id: "crmSequence-CON-5b1e09c77a42-welcome", run_id: EXAMPLE_RUN_ID },
  },
  async run(input, context) {
    await check(input, context);
    const { contact_id, workflow } = input;
    const { caller } = context;
    const run = await startRun(context, WORKFLOW.crmSequence, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: sequenceWorkflowId(contact_id, workflow),
      args: [{ contact_id, sequence: workflow, key_id: caller.keyId }],
      staticSummary: `Sends ${contact_id} the sequence ${workflow}`,
    });
    return { workflow_id: run.workflowId, run_id: run.firstExecutionRunId };
  },
});

async function check(
  { contact_id, workflow }: { readonly contact_id: string; readonly workflow: string },
  { store, config }: Pick<Platform, "store" | "config">,
): Promise<void> {
  const contact = await getContact(store.db, contact_id);
  if (!contact) throw await unknownRecord(store.db, "contact", contact_id);
  const names = readMailRules(config).sequences.map(({ sequence }) => sequence);
  if (!names.includes(workflow)) {
    throw new Problem(
      "NotFound",
      describeUnknownName("sequence", workflow, names, `there are ${names.join(", ")}`),
    );
  }
  await checkMail({ store, config }, { to: contact.email, kind: "mail" });
}
