import { z } from "zod";
import { checkMail, describeMail, type MailOrder, sendMail } from "../../calls/mail/mod.ts";
import { type Context, operation, type Platform } from "../../calls/mod.ts";
import { idOfCall, notNoted, recoverBegun, recoverRun } from "../../calls/recover/mod.ts";
import { type LostCall, type Recovery } from "../../contract/mod.ts";
import { emailWorkflowId, WORKFLOW } from "../../domain/mod.ts";
import { dropEmail, getEmail } from "../../store/mod.ts";
import { FULL } from "../scopes.ts";
import { exampleEmail, SentEmail } from "./_schemas.ts";

const ONE_LINE = /^[^\p{Cc}\u2028\u2029]*$/u;

/** Sends a mail. */
export const sendEmail = operation({
  name: "mail.send",
  group: "crm",
  summary: "Send a mail, after a review that holds what a person should see first",
  description:
    "The review looks for secrets, numbers of cards and accounts, hosts of the network inside, links that lead elsewhere " +
    "than they say, words that would steer an agent, many recipients, and recipients who have not agreed to mail. A mail " +
    "that it flags waits for a person. Whoever has opted out is not mailed at all. The mail is sent at most once: it is " +
    "repeated only where an attempt provably sent nothing, and ends as `unknown` where nobody can tell.",
  effect: "run",
  shippedRule: "reviewed-mail",
  startsWorkflow: WORKFLOW.sendEmail,
  hints: { destructive: false, openWorld: true },
  access: "key",
  input: z.object({
    to: z.string().trim().min(3).max(254).describe("Address of one recipient: ada@example.com"),
    subject: z.string().trim().min(1).max(400)
      .regex(ONE_LINE, "Expected one line without control characters"),
    body: z.string().min(1).max(100_000).describe("Plain text"),
  }),
  output: SentEmail,
  tool: { crm_send_email: FULL },
  errors: ["Denied", "NotConfigured", "Unavailable"],
  example: {
    input: { to: "ada@sealoop.local", subject: "Maintenance on Sunday", body: "From 2 to 3 am." },
    output: exampleEmail,
  },
  receipt: (output) => {
    const { email_id, state } = output as { email_id: string; state: string };
    return { email_id, state };
  },
  async check({ to }, context) {
    await checkMail(context, { to, kind: "mail" });
  },
  recover: recoverMail,
  run: async (input, context) => await sendMail(context, orderOf(input, context)),
});

function orderOf(
  { to, subject, body }: { to: string; subject: string; body: string },
  { caller, decisionId }: Pick<Context, "caller" | "decisionId">,
): MailOrder {
  return {
    id: `EML-${idOfCall(decisionId, 12)}`,
    kind: "mail",
    to,
    subject,
    body,
    askedBy: caller.principal,
    askedByKey: caller.keyId,
  };
}

/** Recovers a lost call. A stored mail without a workflow was not sent, and goes. */
async function recoverMail(call: LostCall, platform: Platform): Promise<Recovery> {
  const { db } = platform.store;
  const email = await getEmail(db, `EML-${idOfCall(call.decisionId, 12)}`);
  if (!email) return notNoted(call);
  const recovery = await recoverRun(platform, emailWorkflowId(email.id), call, recoverBegun);
  if (recovery.state === "not_done") await dropEmail(db, email.id);
  if (recovery.state !== "done") return recovery;
  const ids = { email_id: email.id, ...recovery.ids };
  return { state: "done", ids, output: { ...describeMail(email), run_id: recovery.ids.run_id } };
}
