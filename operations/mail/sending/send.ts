/** The one way in which mail is sent: it is reviewed, its bytes are stored, and a workflow sends them. */
import { randomBytes } from "node:crypto";
import { type Durability, InvalidInput, Problem } from "../../../contract/mod.ts";
import {
  type EmailKind,
  type EmailState,
  emailWorkflowId,
  type MailFinding,
  PLATFORM_TENANT,
  TASK_QUEUE,
  WORKFLOW,
} from "../../../contract/domain/mod.ts";
import {
  BadMailSetting,
  composeMail,
  findServer,
  HeaderInjection,
  isLocalAddress,
  type MailAddress,
  type MailDraft,
  parseAddress,
} from "../../../integrations/mail/mod.ts";
import { commitTo, type Db } from "../../../store/mod.ts";
import type { Contact } from "../../../contract/records/mod.ts";
import { findContactByEmail } from "../../../store/crm/mod.ts";
import { reviewText } from "./review.ts";
import { mailLink } from "./links.ts";
import {
  countRecipients,
  dropEmail,
  type EmailRecord,
  getEmail,
  lockAddress,
  mayMail,
  putEmail,
} from "../../../store/mail/mod.ts";
import type { Platform } from "../../../calls/mod.ts";
import { idOfCall, type RecoveryParts, startOnce } from "../../../calls/recover/mod.ts";
import { noteCallEffects } from "../../../store/calls/mod.ts";

/** Addresses a day to which one caller may mail the same text, and any text, before a person is asked. */
const MAX_SAME_TEXT = 20;
const MAX_RECIPIENTS = 200;

/** A mail that somebody wants to send. */
export interface MailOrder {
  /** `EML-` and 12 hex characters. The same id again is the same mail. */
  readonly id: string;
  readonly kind: EmailKind;
  readonly to: string;
  readonly subject: string;
  /** Plain text. */
  readonly body: string;
  /** The mails before it: the thread that it belongs to, and their Message-IDs, oldest first. */
  readonly thread?: {
    readonly id: string;
    readonly references: readonly string[];
    /** Reply that it answers. */
    readonly answers: string;
  };
  /** Reasons to have a person look at it, besides what the review finds. */
  readonly holds?: readonly MailFinding[];
  readonly invitation?: MailDraft["invitation"];
  readonly automatic?: MailDraft["automatic"];
  /** Principal, or the part of the platform that sends it, and its key. */
  readonly askedBy: string;
  readonly askedByKey: string | null;
  /** Decision of the call that sends it, which is found by the mail if it is lost. */
  readonly decisionId?: string | undefined;
  /** Receipt that it is sealed by already; absent: it gets receipts of its own. */
  readonly receiptId?: string;
}

/** A mail as its caller is told of it. */
export interface SentMail {
  readonly email_id: string;
  readonly state: EmailState;
  readonly findings: readonly MailFinding[];
  readonly approval_id?: string;
  readonly message_id: string;
  readonly workflow_id: string;
  readonly run_id: string;
}

/** The parts that sending needs. */
export type MailParts = Pick<Platform, "store" | "temporal" | "config" | "urls">;

/**
 * Checks whether a mail could be sent now, before anything is stored.
 *
 * @throws {Problem} `NotConfigured`: nobody takes mail for this address, or the relay's password can't be read; `Denied`:
 *   its holder has opted out
 */
export async function checkMail(
  { store, config }: Pick<MailParts, "store" | "config">,
  { to, kind }: Pick<MailOrder, "to" | "kind">,
): Promise<MailAddress> {
  const address = parseAddress(to);
  if (!address) {
    throw new InvalidInput([{
      path: ["to"],
      msg: "Expected one plain address, as ada@example.com",
      type: "address",
    }]);
  }
  if (!hasServer(address, config)) {
    const { SEALOOP_MAIL_DOMAINS: domains } = config.settings;
    throw new Problem(
      "NotConfigured",
      `Cannot send mail to ${address.domain}: set SEALOOP_SMTP_URL to a relay. Without one, mail goes to ${
        domains.join(", ")
      } alone`,
    );
  }
  await requirePermission(store.db, address, kind);
  return address;
}

/** @throws {Problem} `Denied`: the address must not be mailed */
async function requirePermission(
  db: Db,
  { text }: MailAddress,
  kind: MailOrder["kind"],
): Promise<void> {
  if (kind === "notice") return;
  const { allowed, reason } = await mayMail(db, text);
  if (allowed) return;
  const why = reason === "erased" ? "was erased" : "has opted out of mail";
  throw new Problem("Denied", `Cannot send mail to ${text}: its holder ${why}`);
}

function hasServer(address: MailAddress, config: MailParts["config"]): boolean {
  try {
    return findServer(address, config) !== undefined;
  } catch (cause) {
    if (!(cause instanceof BadMailSetting)) throw cause;
    throw new Problem(
      "NotConfigured",
      "SEALOOP_SMTP_PASSWORD_FILE has to name a file that sealoop alone can read, for mail to other domains",
      { cause },
    );
  }
}

/**
 * Reviews a mail, stores its bytes and starts the workflow that sends them; it waits for a person where the review finds
 * a reason. The same order again gives the same mail.
 *
 * @param within runs in the transaction that stores the mail
 * @throws {Problem} as {@linkcode checkMail}; `Unavailable`: it can't be started now; then what this call stored is dropped
 */
export async function sendMail(
  parts: MailParts,
  order: MailOrder,
  within?: (trx: Db) => Promise<void>,
): Promise<SentMail> {
  const { db } = parts.store;
  let email = await getEmail(db, order.id);
  let isNew = false;
  if (!email) {
    const address = await checkMail(parts, order);
    const draft = await prepareEmail(parts, order, address);
    isNew = await db.transaction(async (trx) => {
      await lockAddress(trx, address.key);
      await requirePermission(trx, address, order.kind); // it may have been erased since
      const isAdded = await putEmail(trx, draft);
      await within?.(trx);
      if (isAdded) await noteMail(trx, order);
      return isAdded;
    });
    email = (await getEmail(db, order.id))!;
  }
  try {
    const run_id = await startSending({ ...parts, decisionId: order.decisionId }, email);
    return { ...describeMail(email), run_id };
  } catch (error) {
    if (isNew) await dropEmail(db, email.id); // an earlier call's may have its workflow
    throw error;
  }
}

async function noteMail(trx: Db, { id, decisionId }: MailOrder): Promise<void> {
  if (decisionId === undefined) return;
  const output = describeMail((await getEmail(trx, id))!);
  const { workflow_id } = output;
  await noteCallEffects(trx, decisionId, { workflow_id, email_id: id }, { ...output });
}

/** Returns the id of the mail that a call sends. */
export function emailIdOf(decisionId: string | undefined): string {
  return `EML-${idOfCall(decisionId, 12)}`;
}

/** How lost calls that send mail are recovered. */
export const SENDS_MAIL: Pick<Durability<RecoveryParts>, "startsRun" | "dropUnstarted"> = {
  startsRun: "ids",
  dropUnstarted: ({ email_id }, { store }) => dropEmail(store.db, email_id!),
};

/** Returns what callers are told of a mail, but for its run. */
function describeMail(
  { id, state, findings, approvalId, messageId }: EmailRecord,
): Omit<SentMail, "run_id"> {
  return {
    email_id: id,
    state: state === "sending" ? "queued" : state,
    findings,
    ...(approvalId ? { approval_id: approvalId } : {}),
    message_id: `<${messageId}>`,
    workflow_id: emailWorkflowId(id),
  };
}

async function prepareEmail(parts: MailParts, order: MailOrder, address: MailAddress) {
  const { store, config: { settings } } = parts;
  const { id, kind, thread, subject, body } = order;
  const contact = await findContactByEmail(store.db, address.text);
  const isOwnText = kind === "notice" || kind === "confirmation";
  const findings = isOwnText ? [] : [
    ...order.holds ?? [],
    ...reviewText(subject, body),
    ...await reviewRecipient(parts, order, address, contact),
  ];
  const from = settings.SEALOOP_MAIL_FROM;
  // Who knows a Message-ID can write into the thread, and ids are public.
  const unguessable = randomBytes(8).toString("hex");
  const messageId = `${id}.${unguessable}@${from.slice(from.lastIndexOf("@") + 1)}`;
  const message = await compose({
    from,
    to: address.text,
    subject,
    text: body,
    messageId,
    references: thread?.references ?? [],
    ...(kind === "notice" ? {} : { unsubscribeUrl: await mailLink(parts, "unsubscribe", id) }),
    ...(order.automatic ? { automatic: order.automatic } : {}),
    ...(order.invitation ? { invitation: order.invitation } : {}),
  });
  return {
    id,
    kind,
    contactId: contact?.contact_id ?? null,
    threadId: thread?.id ?? id,
    answers: thread?.answers ?? null,
    recipient: address.text,
    recipientKey: address.key,
    subject,
    body,
    messageId,
    message,
    ...commitTo(message.toString()),
    findings,
    approvalId: findings.length > 0 ? id.replace(/^EML/, "APR") : null,
    askedBy: order.askedBy,
    askedByKey: order.askedByKey,
    receiptId: order.receiptId ?? null,
  };
}

/**
 * Returns the reasons that lie in the recipient. A contact who never agreed to mail, and somebody who is no contact, are
 * left to a person. An answer to somebody's own mail and an invitation to an appointment need no consent, and neither
 * does the operator's own mail that stays on this machine and goes to no contact.
 */
async function reviewRecipient(
  { store, config }: MailParts,
  order: MailOrder,
  address: MailAddress,
  contact: Contact | undefined,
): Promise<MailFinding[]> {
  const findings: MailFinding[] = [];
  const { all, sameText } = await countRecipients(store.db, order);
  if (sameText >= MAX_SAME_TEXT || all >= MAX_RECIPIENTS) {
    findings.push({
      code: "many_recipients",
      about:
        `${order.askedBy} has mailed ${sameText} addresses the same text today, and ${all} in all`,
    });
  }
  if (order.kind !== "mail") return findings;
  if (contact && contact.consent.email !== "opt_in") {
    findings.push({ code: "no_consent", about: "The contact has not agreed to mail" });
  }
  const isOwnMailbox = store.tenant === PLATFORM_TENANT && isLocalAddress(address, config.settings);
  if (!contact && !isOwnMailbox) {
    findings.push({ code: "unknown_recipient", about: "The recipient is no contact" });
  }
  return findings;
}

async function compose(draft: MailDraft): Promise<Buffer> {
  try {
    return await composeMail(draft);
  } catch (error) {
    if (!(error instanceof HeaderInjection)) throw error;
    const path = [error.field.toLowerCase()];
    throw new InvalidInput([{ path, msg: error.message, type: "header_injection" }]);
  }
}

/** Starts the workflow of a stored mail, or joins it. @returns its run */
export async function startSending(
  parts: Pick<MailParts, "store" | "temporal"> & { readonly decisionId?: string | undefined },
  { id, kind }: EmailRecord,
): Promise<string> {
  const { store, temporal, decisionId } = parts;
  const workflowId = emailWorkflowId(id);
  return await startOnce({ store, temporal, decisionId }, WORKFLOW.sendEmail, {
    taskQueue: TASK_QUEUE.itsm,
    workflowId,
    args: [{ email_id: id }],
    staticSummary: `Sends ${id} (${kind})`,
  });
}
