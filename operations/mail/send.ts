import { z } from "zod";
import { checkMail, emailIdOf, type MailOrder, sendMail, SENDS_MAIL } from "./sending/mod.ts";
import { type Context, operation } from "../../calls/mod.ts";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import { WORKFLOW } from "../../contract/domain/mod.ts";
import { parseAddress } from "../../integrations/mail/mod.ts";
import { FULL } from "../scopes.ts";
import { exampleEmail, ReplyId, SentEmail } from "./_schemas.ts";
import { getReply } from "../../store/mail/mod.ts";

const ONE_LINE = /^[^\p{Cc}\u2028\u2029]*$/u;

/** Sends a mail. */
export const sendEmail = operation({
  name: "mail.send",
  group: "crm",
  summary: "Send a mail, after a review that holds what a person should see first",
  description:
    "The review looks for access keys, numbers of cards and accounts, hosts of the network inside, links that lead elsewhere " +
    "than they say, words that would steer an agent, many recipients, and recipients who have not agreed to mail. A mail " +
    "that it flags waits for a person. Whoever has opted out is not mailed at all. The mail is sent at most once: it is " +
    "repeated only where an attempt provably sent nothing, and ends as `unknown` where nobody can tell.",
  effect: "run",
  access: "key",
  input: z.object({
    to: z.string().trim().min(3).max(254).describe("Address of one recipient: ada@example.com"),
    subject: z.string().trim().min(1).max(400)
      .regex(ONE_LINE, "Expected one line without control characters"),
    body: z.string().min(1).max(100_000).describe("Plain text"),
    in_reply_to: ReplyId.optional().describe("The received mail that it answers"),
  }),
  output: SentEmail,
  tool: { crm_send_email: FULL },
  presentation: {
    toolText: {
      crm_send_email:
        "Sent at most once, after a review; a flagged mail waits for a person, and who has opted out is not mailed.",
    },
    hints: { destructive: false, openWorld: true },
    errors: ["Denied", "NotConfigured", "NotFound", "Unavailable"],
  },
  governance: {
    rule: "reviewed-mail",
    async check(input, context) {
      await checkMail(context, { to: input.to, kind: "mail" });
      await findThread(input, context);
    },
  },
  durability: {
    startsWorkflow: WORKFLOW.sendEmail,
    receipt: (output) => {
      const { email_id, state } = output as { email_id: string; state: string };
      return { email_id, state };
    },
    ...SENDS_MAIL,
  },
  example: {
    input: { to: "ada@sealoop.local", subject: "Maintenance on Sunday", body: "From 2 to 3 am." },
    output: exampleEmail,
  },
  async run(input, context) {
    const { caller, decisionId } = context;
    const thread = await findThread(input, context);
    return await sendMail(context, {
      id: emailIdOf(decisionId),
      kind: thread?.isAnswer ? "reply" : "mail",
      to: input.to,
      subject: input.subject,
      body: input.body,
      ...(thread ? { thread: thread.mails } : {}),
      askedBy: caller.principal,
      askedByKey: caller.keyId,
      decisionId,
    });
  },
});

/**
 * Returns the thread of the received mail that is answered. The sender of one that nobody may answer can be anybody:
 * who writes to them needs their consent.
 *
 * @throws {Problem} there is none, or another has sent it
 */
async function findThread(
  { to, in_reply_to }: { readonly to: string; readonly in_reply_to?: string | undefined },
  { store }: Pick<Context, "store">,
): Promise<{ readonly mails: MailOrder["thread"]; readonly isAnswer: boolean } | undefined> {
  if (in_reply_to === undefined) return undefined;
  const reply = await getReply(store.db, in_reply_to);
  if (!reply) throw new Problem("NotFound", `There is no received mail ${in_reply_to}`);
  if (parseAddress(to)?.key !== reply.senderKey) {
    const msg = `Expected the sender of ${in_reply_to}, whom the mail answers`;
    throw new InvalidInput([{ path: ["to"], msg, type: "recipient" }]);
  }
  const { threadId, references, messageId, state } = reply;
  return {
    mails: {
      id: threadId,
      references: [...references, ...(messageId ? [messageId] : [])],
      answers: in_reply_to,
    },
    isAnswer: state !== "ignored",
  };
}
