import { z } from "zod";
import {
  argumentsOf,
  Count,
  EmailId,
  ReplyId,
  RunIdSchema,
  SequenceOrderSchema,
} from "../../contract/domain/schemas/mod.ts";
import { EmailOrderSchema, ReplyDraftSchema, SequenceStepSchema } from "./_orders.ts";

/** Schemas of the arguments of activities: mail. */
export const MAIL_ARGUMENTS = {
  beginSequence: argumentsOf(z.object({ order: SequenceOrderSchema, run: RunIdSchema })),
  planSequenceStep: argumentsOf(z.object({ order: SequenceOrderSchema, step: Count })),
  runSequenceStep: argumentsOf(SequenceStepSchema),
  endSequence: argumentsOf(
    z.object({
      order: SequenceOrderSchema,
      run: RunIdSchema,
      outcome: z.enum(["not_sent", "completed", "replied", "opted_out", "gone", "key_revoked"]),
      steps: Count,
    }),
  ),
  readReply: argumentsOf(z.object({ reply_id: ReplyId })),
  draftReply: argumentsOf(ReplyDraftSchema),
  readReplies: argumentsOf(),
  transmitEmail: argumentsOf(z.object({ email_id: EmailId, attempt: Count })),
  prepareEmail: argumentsOf(EmailOrderSchema),
  decideEmail: argumentsOf(EmailOrderSchema),
  stopEmail: argumentsOf(z.object({ email_id: EmailId })),
  sealEmail: argumentsOf(EmailOrderSchema),
};
