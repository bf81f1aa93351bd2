/** People's own words by e-mail to an address: sent as `mail.send` sends them, with the same review and consent. */
import { emailIdOf, sendMail, SENDS_MAIL } from "../mail/sending/mod.ts";
import type { Context, Platform } from "../../calls/mod.ts";
import { recoverRun } from "../../calls/recover/mod.ts";
import { InvalidInput, type LostCall, type Recovery } from "../../contract/mod.ts";
import type { EmailState } from "../../contract/domain/mod.ts";
import type { Db } from "../../store/mod.ts";
import { addMessage, getMessageByKey } from "../../store/notices/mod.ts";
import { type EmailRecord, getEmail } from "../../store/mail/mod.ts";

/** A mail to send. */
export interface MailInput {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Returns whether `to` is an address, and no name of a channel. */
export function isMailAddress(channel: string, to: string | undefined): to is string {
  return channel === "email" && to !== undefined && to.includes("@");
}

/** Sends the mail, and writes into the feed that it was asked for. */
export async function sendByMail({ to, subject, text }: MailInput, context: Context) {
  if (subject.trim() === "") {
    const msg = "Expected a subject, as it is a mail";
    throw new InvalidInput([{ path: ["subject"], msg, type: "value_error" }]);
  }
  const { caller, decisionId, store } = context;
  const { email_id } = await sendMail(context, {
    id: emailIdOf(decisionId),
    kind: "mail",
    to,
    subject,
    body: text,
    askedBy: caller.principal,
    askedByKey: caller.keyId,
    decisionId,
  });
  return await tellOfMail(store.db, (await getEmail(store.db, email_id))!);
}

/** Recovers a lost call that may have sent a mail. */
export async function recoverByMail(call: LostCall, platform: Platform): Promise<Recovery> {
  const { db } = platform.store;
  const recovery = await recoverRun(platform, call, SENDS_MAIL);
  if (recovery.state !== "done") return recovery;
  const output = await tellOfMail(db, (await getEmail(db, emailIdOf(call.decisionId)))!);
  return { ...recovery, output };
}

/** Writes a mail into the feed, unless it stands there, and returns what the caller is told. */
async function tellOfMail(db: Db, email: EmailRecord) {
  const { id, askedBy, subject, body, approvalId } = email;
  const refs = { email_id: id, ...(approvalId ? { approval_id: approvalId } : {}) };
  const said = { kind: "said", channel: "email", from: askedBy, subject, text: body } as const;
  const added = await db.transaction((trx) => addMessage(trx, { ...said, refs, key: id }));
  const message_id = added ?? (await getMessageByKey(db, id))!.id;
  return { message_id, deliveries: [deliveryOf(email)] };
}

function deliveryOf({ id, state, attempts, code, approvalId }: EmailRecord) {
  return {
    channel: "email",
    kind: "email" as const,
    state: DELIVERY_STATES[state === "sending" ? "queued" : state],
    attempts,
    code,
    at: null,
    email_id: id,
    ...(approvalId ? { approval_id: approvalId } : {}),
  };
}

const DELIVERY_STATES = {
  held: "held",
  queued: "queued",
  sent: "delivered",
  not_sent: "not_delivered",
  unknown: "unknown",
} as const satisfies Readonly<Record<EmailState, string>>;
