import { sendMail, type SentMail, startSending } from "../../operations/mail/sending/mod.ts";
import { Problem } from "../../contract/mod.ts";
import type {
  MailFinding,
  ReasoningResult,
  ReplyResult,
  Source,
} from "../../contract/domain/mod.ts";
import { findInjection } from "../../judgement/guard/mod.ts";
import { matchesGlob } from "../../integrations/files/mod.ts";
import { newWords } from "../../integrations/mail/mod.ts";
import { keyedHash } from "../../store/mod.ts";
import { getTicket } from "../../store/incidents/mod.ts";
import type { ActivityParts } from "../parts.ts";
import { requireMailRules } from "./_rules.ts";
import {
  getEmail,
  getReply,
  hasAutoReply,
  type ReplyRecord,
  setReplyDraft,
} from "../../store/mail/mod.ts";

/** The answer of the reasoning pipeline; absent: it gave none. */
export interface ReplyDraft
  extends Partial<Pick<ReasoningResult, "outcome" | "answer" | "citations">> {
  readonly reply_id: string;
}

const MAX_PROMPT = 4_000;
const MAX_QUOTE_LINES = 40;
const MAX_CITATIONS = 5;
const DRAFT: MailFinding = {
  code: "draft",
  about: "The platform has written it as an answer; a person looks at it first",
};

/** Creates the activities that answer received mail. */
export function replyActivities(parts: ActivityParts) {
  const { store, config } = parts;
  const { db } = store;

  /**
   * Returns what a received mail asks; null: it tries to steer who reads it, so that a person answers. Safe to repeat:
   * it only reads.
   */
  async function readReply(
    { reply_id }: { readonly reply_id: string },
  ): Promise<{ readonly prompt: string | null }> {
    const { subject, body } = await existing(reply_id);
    const words = `${subject}\n${newWords(body)}`.slice(0, MAX_PROMPT).trim();
    return { prompt: words === "" || findInjection(words).length > 0 ? null : words };
  }

  /**
   * Stores the draft of an answer, and has it sent: at once where a rule allows it, else after a person has looked at it.
   * Safe to repeat: the answer names the received mail. Where a person has answered meanwhile, nothing is drafted.
   */
  async function draftReply(
    { reply_id, outcome, answer, citations = [] }: ReplyDraft,
  ): Promise<ReplyResult> {
    const reply = await existing(reply_id);
    if (reply.answerId) return await goOn(reply, reply.answerId);
    if (answer === undefined || outcome === "refused") return result(reply);
    const sources = await sourcesOf(reply, citations);
    const draft = textOf(answer, sources);
    await setReplyDraft(db, reply_id, { draft, citations: sources });
    const mail = await answerBySelf(reply, draft, outcome === "answered" && sources.length > 0) ??
      await sendAnswer(reply, draft, {
        id: `EML-${reply_id.slice("RPL-".length)}`,
        kind: "reply",
        holds: [DRAFT],
      });
    if (!mail) return result(reply);
    return { reply_id, state: mail.state === "held" ? "held" : "sent", email_id: mail.email_id };
  }

  /** Starts sending an answer that was stored just before a worker died. */
  async function goOn(reply: ReplyRecord, answerId: string): Promise<ReplyResult> {
    const email = await getEmail(db, answerId);
    if (email?.state === "held" || email?.state === "queued") await startSending(parts, email);
    return result(reply);
  }

  /** Answers by itself, where a rule allows it: one a sender and day. @returns undefined: it may not */
  async function answerBySelf(
    reply: ReplyRecord,
    draft: string,
    isAnswered: boolean,
  ): Promise<SentMail | undefined> {
    if (!isAnswered || !mayAnswer(reply) || await hasAutoReply(db, reply.senderKey)) {
      return undefined;
    }
    const day = new Date().toISOString().slice(0, 10);
    const hash = await keyedHash(store, "automatic_answers", store.tenant, reply.senderKey, day);
    const mail = await sendAnswer(reply, draft, {
      id: `EML-${hash.toString("hex", 0, 6)}`, // the second one of a day would be the same mail
      kind: "auto_reply",
      automatic: "replied",
    });
    const email = mail && await getEmail(db, mail.email_id);
    return email?.answers === reply.id ? mail : undefined;
  }

  function mayAnswer({ sender, senderKey }: ReplyRecord): boolean {
    const addresses = [sender.toLowerCase(), senderKey];
    return requireMailRules(config).auto_replies.some(({ from, tenant }) =>
      tenant === store.tenant &&
      from.some((glob) => addresses.some((one) => matchesGlob(glob.toLowerCase(), one)))
    );
  }

  /** @returns undefined: it can't be sent, as its sender has opted out or no relay is set */
  async function sendAnswer(
    reply: ReplyRecord,
    draft: string,
    fields: Pick<Parameters<typeof sendMail>[1], "id" | "kind" | "holds" | "automatic">,
  ): Promise<SentMail | undefined> {
    const { id, threadId, messageId, references, sender, subject } = reply;
    try {
      return await sendMail(parts, {
        ...fields,
        to: sender,
        subject: /^re:/i.test(subject) ? subject : `Re: ${subject}`.slice(0, 400),
        body: `${draft}\n\n${quote(reply)}\n`,
        thread: {
          id: threadId,
          references: [...references, ...(messageId ? [messageId] : [])],
          answers: id,
        },
        askedBy: "mail",
        askedByKey: null,
      });
    } catch (error) {
      const isFinal = error instanceof Problem && ["Denied", "NotConfigured"].includes(error.name);
      if (isFinal) return undefined;
      throw error;
    }
  }

  async function sourcesOf(
    { ticketId }: ReplyRecord,
    citations: readonly Source[],
  ): Promise<Pick<Source, "id" | "kind" | "title">[]> {
    const ticket = ticketId ? await getTicket(db, ticketId) : undefined;
    const cited = citations.filter(({ id }) => id !== ticketId);
    return [
      ...(ticket ? [{ id: ticketId!, kind: "ticket", title: ticket.title } as const] : []),
      ...cited.slice(0, MAX_CITATIONS).map(({ id, kind, title }) => ({ id, kind, title })),
    ];
  }

  async function existing(id: string): Promise<ReplyRecord> {
    const reply = await getReply(db, id);
    if (reply) return reply;
    throw new Problem("NotFound", `There is no received mail ${id}`);
  }

  return { readReply, draftReply };
}

function result({ id, state, answerId }: ReplyRecord): ReplyResult {
  return { reply_id: id, state: state === "ignored" ? "draft" : state, email_id: answerId };
}

function textOf(answer: string, sources: readonly Pick<Source, "id" | "title">[]): string {
  const lines = sources.map(({ id, title }) => `- ${id}: ${title}`);
  return [
    "Hello,",
    answer.trim(),
    ...(lines.length > 0 ? [`Sources:\n${lines.join("\n")}`] : []),
    "If this does not answer your question, answer this mail, and a person will read it.",
  ].join("\n\n");
}

/** Returns the words of a received mail as a quotation. */
function quote({ body, sender, receivedAt }: ReplyRecord): string {
  const lines = newWords(body).split("\n").slice(0, MAX_QUOTE_LINES);
  const head = `On ${receivedAt.toISOString().slice(0, 10)}, ${sender} wrote:`;
  return [head, ...lines.map((line) => `> ${line}`)].join("\n");
}
