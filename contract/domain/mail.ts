/**
 * Kinds of mail. A notice goes to the operator's own people, an `auto_reply` is written and sent by the platform alone, and
 * a confirmation asks the holder of an address for consent.
 */
const EMAIL_KINDS = [
  "mail",
  "reply",
  "auto_reply",
  "invitation",
  "notice",
  "confirmation",
] as const;

/** Kind of a mail. */
export type EmailKind = typeof EMAIL_KINDS[number];

/** States of a mail, as callers see them. `unknown`: all of it was sent, and no answer came. */
export const EMAIL_STATES = ["held", "queued", "sent", "not_sent", "unknown"] as const;

/** State of a mail. */
export type EmailState = typeof EMAIL_STATES[number];

/** A reason to have a person look at a mail before it is sent. */
export interface MailFinding {
  readonly code:
    | "secret"
    | "card_number"
    | "iban"
    | "internal_address"
    | "link_differs"
    | "injection"
    | "many_recipients"
    | "no_consent"
    | "unknown_recipient"
    | "draft";
  /** A sentence for people, without what was found. */
  readonly about: string;
}

/** Result of a mail's workflow. */
export interface EmailResult {
  readonly email_id: string;
  readonly state: Exclude<EmailState, "held" | "queued">;
  /** `accepted_250`, `refused_550`, `approval_denied`, `opted_out`, `answer_lost`, … */
  readonly code: string;
  readonly attempts: number;
  readonly receipt_id: string;
}

/** Returns the id of the workflow that sends a mail. */
export const emailWorkflowId = (emailId: string): string => `sendEmail-${emailId}`;

/** Returns the id of the workflow that answers a received mail. */
export const replyWorkflowId = (replyId: string): string => `emailReply-${replyId}`;

/** Result of the workflow of a received mail. `draft`: no answer was sent, and a person may write one. */
export interface ReplyResult {
  readonly reply_id: string;
  readonly state: "draft" | "held" | "sent";
  /** Mail that answers it; null: none. */
  readonly email_id: string | null;
}

/** An order to send a contact a sequence of mails. */
export interface SequenceOrder {
  readonly contact_id: string;
  /** Its name in the file of rules. */
  readonly sequence: string;
  /** Key that asked for it. */
  readonly key_id: string | null;
}

/** Result of a sequence. `gone`: the contact or the sequence is no longer there. */
export interface SequenceResult {
  readonly contact_id: string;
  /** `not_sent`: people did not let a mail be sent, or nobody takes it. */
  readonly outcome: "completed" | "replied" | "opted_out" | "gone" | "key_revoked" | "not_sent";
  /** Mails that it sent, the last one maybe still on its way. */
  readonly steps: number;
  readonly receipt_id: string;
}

/** Returns the id of the workflow of a contact's sequence. */
export const sequenceWorkflowId = (contactId: string, sequence: string): string =>
  `crmSequence-${contactId}-${sequence}`;
