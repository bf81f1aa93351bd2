/** Mail that has come: it is stored as the words of others, and answered by a workflow of its own. */
import { replyWorkflowId, TASK_QUEUE, WORKFLOW } from "../../../contract/domain/mod.ts";
import {
  isLocalAddress,
  newWords,
  parseMail,
  type ReceivedMail,
} from "../../../integrations/mail/mod.ts";
import { randomHex, requestSeal } from "../../../ledger/mod.ts";
import { type Db, keyedHash } from "../../../store/mod.ts";
import { addActivity, findContactByEmail } from "../../../store/crm/mod.ts";
import { getTicket } from "../../../store/incidents/mod.ts";
import { listTenants } from "../../../store/keys/mod.ts";
import { addMessage } from "../../../store/notices/mod.ts";
import {
  type EmailRecord,
  findEmailByMessageId,
  type NewReply,
  putReply,
} from "../../../store/mail/mod.ts";
import { forTenant, type Platform } from "../../../calls/mod.ts";
import { startOnce } from "../../../calls/recover/mod.ts";

/** The parts that receiving needs. */
export type ReceivingParts = Pick<Platform, "store" | "temporal" | "config">;

const TICKET = /\bINC-[0-9a-f]{12}\b/g;
const MAX_TICKETS = 5;
const MAX_EXCERPT = 500;

/**
 * Takes in one mail: stores and seals it, tells people, and starts the workflow that drafts an answer. The same bytes
 * again are the same mail.
 *
 * It belongs to the tenant whose mail it answers, and otherwise to the operator. One that is refused is stored with the
 * reason, and people are told of it: it would be refused again.
 *
 * @param envelopeFrom sender that SMTP named; undefined: not known
 * @throws {Problem} `Unavailable`: it can't be parsed, or its workflow not be started now; the same mail again does both
 */
export async function receiveMail(
  platform: ReceivingParts,
  { from: envelopeFrom, bytes }: { readonly from?: string; readonly bytes: Buffer },
): Promise<void> {
  const mail = await parseMail(bytes, envelopeFrom); // of one that is refused, the head
  const answered = await findAnswered(platform, mail.references);
  const parts = answered ? forTenant(platform, answered.tenant) : platform;
  const reply = await describe(parts, mail, answered?.email, bytes);
  await parts.store.db.transaction((trx) => record(trx, reply, mail.refusal));
  if (reply.ignored === null) await startAnswering(parts, reply.id);
}

async function findAnswered(
  { store }: ReceivingParts,
  references: readonly string[],
): Promise<{ readonly tenant: string; readonly email: EmailRecord } | undefined> {
  if (references.length === 0) return undefined;
  for (const tenant of await listTenants(store.asPlatform())) {
    const email = await findEmailByMessageId(store.asTenant(tenant), references);
    if (email) return { tenant, email };
  }
  return undefined;
}

async function describe(
  { store, config }: ReceivingParts,
  mail: ReceivedMail,
  answered: EmailRecord | undefined,
  bytes: Buffer,
): Promise<NewReply> {
  const { from, subject, text, messageId, references, refusal, notToAnswer } = mail;
  const id = `RPL-${
    (await keyedHash(store, "received_mail", store.tenant, bytes.toString("latin1"))).toString(
      "hex",
      0,
      6,
    )
  }`;
  const contact = from && await findContactByEmail(store.db, from.text);
  const isKnown = answered !== undefined || contact !== undefined ||
    from !== null && isLocalAddress(from, config.settings);
  const isOwn = from?.key === config.settings.SEALOOP_MAIL_FROM.toLowerCase();
  return {
    id,
    threadId: answered?.threadId ?? id,
    emailId: answered?.id ?? null,
    contactId: contact?.contact_id ?? null,
    sender: from?.text ?? "",
    senderKey: from?.key ?? "",
    subject,
    body: text,
    messageId,
    references,
    ignored: refusal?.code ?? notToAnswer ?? (isOwn ? "own" : isKnown ? null : "stranger"),
    ticketId: await findTicket(store.db, `${subject}\n${text}`),
    receiptId: randomHex(16),
  };
}

/** Returns the first ticket of the tenant that a text names. */
async function findTicket(db: Db, text: string): Promise<string | null> {
  const named = new Set([...text.matchAll(TICKET)].map(([id]) => id));
  for (const id of [...named].slice(0, MAX_TICKETS)) {
    if (await getTicket(db, id)) return id;
  }
  return null;
}

async function record(trx: Db, reply: NewReply, refusal: ReceivedMail["refusal"]): Promise<void> {
  if (!await putReply(trx, reply)) return;
  const { id, contactId, emailId, ticketId, ignored, receiptId } = reply;
  // Anybody can write a sender into a mail, and would learn by the receipt whether that is known.
  const isHeard = ignored === null || ignored === "stranger" || refusal !== null;
  await requestSeal(trx, {
    id: receiptId,
    category: "email_received",
    actor: "mail",
    subject: id,
    action: "email.receive",
    outcome: refusal ? "refused" : isHeard ? "received" : "ignored",
    details: {
      ...(emailId ? { email_id: emailId } : {}),
      ...(ticketId ? { ticket_id: ticketId } : {}),
      ...(isHeard && !refusal ? {} : { code: ignored }),
    },
    evidence: {
      from: reply.sender,
      subject: reply.subject,
      message_id: reply.messageId,
      contact_id: contactId,
      answered: ignored ?? "yes",
    },
  });
  if (contactId) {
    const summary = emailId ? `${id} answers ${emailId}` : id;
    await addActivity(trx, { kind: "mail.received", contactId, actor: "mail", summary, receiptId });
  }
  if (!isHeard) return;
  await addMessage(trx, {
    kind: "mail.received",
    from: reply.sender || "unknown",
    subject: reply.subject || "(no subject)",
    text: refusal
      ? `It was refused, and nothing but its head was read. ${refusal.about}.`
      : newWords(reply.body).slice(0, MAX_EXCERPT),
    refs: {
      reply_id: id,
      receipt_id: receiptId,
      ...(emailId ? { email_id: emailId } : {}),
      ...(contactId ? { contact_id: contactId } : {}),
      ...(ticketId ? { ticket_id: ticketId } : {}),
    },
    key: `email/${id}`,
  });
}

/** Starts the workflow that answers, once. */
async function startAnswering({ store, temporal }: ReceivingParts, id: string): Promise<void> {
  await startOnce({ store, temporal, decisionId: undefined }, WORKFLOW.emailReply, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId: replyWorkflowId(id),
    args: [{ reply_id: id }],
    staticSummary: `Drafts an answer to ${id}`,
  });
}
