/** Kinds of mail. A notice goes to the operator's own people, an `auto_reply` is written and sent by the platform alone. */
export const EMAIL_KINDS = ["mail", "reply", "auto_reply", "invitation", "notice"] as const;

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
    | "unknown_recipient";
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
