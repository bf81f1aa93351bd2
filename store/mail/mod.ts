/**
 * Mail that was sent and received, and addresses that get none.
 *
 * @module
 */
export {
  getReply,
  hasAutoReply,
  hasReplied,
  listReplies,
  type NewReply,
  putReply,
  type ReplyRecord,
  SELECT_REPLY,
  setReplyDraft,
} from "./email_replies.ts";
export {
  type AttemptEnd,
  beginAttempt,
  countRecipients,
  dropEmail,
  type EmailRecord,
  endAttempt,
  findEmailByMessageId,
  getEmail,
  hasOtherAnswer,
  hasOtherConfirmation,
  lockEmail,
  mayReviveEmail,
  noteEnding,
  putEmail,
  REVIVABLE_CODES,
  reviveEmail,
  setEmailReceipt,
  settleEmail,
} from "./emails.ts";
export {
  findSuppression,
  liftSuppression,
  lockAddress,
  mayMail,
  suppressEmail,
} from "./suppressions.ts";
