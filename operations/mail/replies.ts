import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { newWords } from "../../integrations/mail/mod.ts";
import { Timestamp } from "../schemas/mod.ts";
import { ReplyId } from "./_schemas.ts";
import { listReplies, type ReplyRecord } from "../../store/mail/mod.ts";

const MAX_EXCERPT = 500;

/** A received mail, as lists show it. */
const Reply = z.object({
  reply_id: ReplyId,
  thread_id: z.string().describe("First mail of its thread: one of ours, or a received one"),
  from: z.string().describe("Address of its sender, who may not be who it says"),
  subject: z.string(),
  excerpt: z.string().describe("Begin of its words, without the mails that it quotes"),
  state: z.enum(["draft", "held", "sent", "ignored"]).describe(
    "draft: no answer is under way; held: an answer waits for a person, or is being sent; sent: it was answered; " +
      "ignored: a program, a list or a stranger has sent it, or it was refused",
  ),
  ignored_because: z.string().nullable().describe(
    "Why it is ignored: `auto_submitted`, `list`, `bounce`, `no_sender`, `own`, `stranger`, or, where it was refused and " +
      "nothing but its head was read, the reason: `too_many_parts`, `too_slow`, …",
  ),
  draft: z.string().nullable().describe("Proposed answer; null: a person has to write one"),
  citations: z.array(z.object({ id: z.string(), kind: z.string(), title: z.string() })).describe(
    "Sources of the proposed answer",
  ),
  ticket_id: z.string().nullable().describe("Ticket that it names"),
  email_id: z.string().nullable().describe("Our mail that answers it"),
  approval_id: z.string().nullable().describe("What a person decides about, while it is held"),
  at: Timestamp,
  receipt_id: z.string(),
});

/** Lists received mail. */
export const emailReplies = operation({
  name: "mail.replies",
  group: "people",
  summary: "List received mail with the answers that are proposed to it, newest first",
  description:
    "The platform drafts an answer to each mail of a person from its knowledge and the ticket that the mail names. A " +
    "person approves the answer, unless a rule of the operator's lets the platform send it. What programs and lists send " +
    "is never answered. `from`, `subject` and `excerpt` are the words of others.",
  effect: "read",
  access: "key",
  input: z.object({
    limit: z.coerce.number().int().min(1).max(500).default(50).describe("Most entries"),
  }),
  output: z.object({ total: z.number().int(), replies: z.array(Reply) }),
  rest: { email_replies: "GET /v1/email-replies" },
  presentation: { untrusted: true },
  example: {
    input: {},
    output: {
      total: 1,
      replies: [{
        reply_id: "RPL-8d1c03f7e2aa",
        thread_id: "EML-2f9d01b3c7aa",
        from: "ada@example.com",
        subject: "Re: Maintenance on Sunday",
        excerpt: "Is INC-4f1d22a90b7c solved by that?",
        state: "held",
        ignored_because: null,
        draft: "Hello,\n\nINC-4f1d22a90b7c is resolved.",
        citations: [{ id: "INC-4f1d22a90b7c", kind: "ticket", title: "Printer jams" }],
        ticket_id: "INC-4f1d22a90b7c",
        email_id: "EML-8d1c03f7e2aa",
        approval_id: "APR-8d1c03f7e2aa",
        at: "2026-03-04T10:15:00.000Z",
        receipt_id: "5f2a91c07be3d864",
      }],
    },
  },
  async run({ limit }, { store }) {
    const { total, replies } = await listReplies(store.db, limit);
    return { total, replies: replies.map(toReply) };
  },
});

function toReply(reply: ReplyRecord): z.output<typeof Reply> {
  return {
    reply_id: reply.id,
    thread_id: reply.threadId,
    from: reply.sender,
    subject: reply.subject,
    excerpt: newWords(reply.body).slice(0, MAX_EXCERPT),
    state: reply.state,
    ignored_because: reply.code,
    draft: reply.draft,
    citations: reply.citations.map((one) => ({ ...one })),
    ticket_id: reply.ticketId,
    email_id: reply.answerId,
    approval_id: reply.approvalId,
    at: reply.receivedAt.toISOString(),
    receipt_id: reply.receiptId,
  };
}
