import { z } from "zod";
import { DEPLOY_TARGETS, OBSERVERS } from "../../contract/domain/mod.ts";
import {
  ActionSchema,
  ApprovalId,
  ApprovalRequestSchema,
  ArticleId,
  CommandId,
  Count,
  DiagnosisSchema,
  Digest,
  EmailId,
  FaultClassSchema,
  FindingSchema,
  ItemId,
  MediaOrderSchema,
  MessageId,
  Name,
  PermissionSchema,
  RepairEffectSchema,
  ReplyId,
  RequestingRunSchema,
  RunIdSchema,
  SealedId,
  SequenceOrderSchema,
  SourceSchema,
  StartedRunSchema,
  Text,
  TicketId,
  Time,
  UndoResultSchema,
  VerifyResultSchema,
  VoteId,
  Word,
} from "../../contract/domain/schemas/mod.ts";

/** Schema of the type `NoticeAttempt`. */
export const NoticeAttemptSchema = z.object({
  message_id: MessageId,
  number: Count,
  attempt: Count,
});

/** Schema of the type `FailedMedia`. */
export const FailedMediaSchema = z.object({
  order: MediaOrderSchema,
  code: Word,
  failure: Text,
});

/** Schema of the type `ItemRunOrder`. */
export const ItemRunOrderSchema = z.object({ run: RunIdSchema, item_id: ItemId });

/** Schema of the type `DeployRunOrder`. */
export const DeployRunOrderSchema = z.object({
  target: z.enum(DEPLOY_TARGETS),
  run: RunIdSchema,
  article_id: ArticleId,
});

/** Schema of the type `ArticleRunOrder`. */
export const ArticleRunOrderSchema = z.object({ run: RunIdSchema, article_id: ArticleId });

/** Schema of the type `CommandOrder`. */
export const CommandOrderSchema = z.object({ command_id: CommandId, run: RunIdSchema });

/** Schema of the type `SequenceStep`. */
export const SequenceStepSchema = z.object({
  order: SequenceOrderSchema,
  run: RunIdSchema,
  step: Count,
  started_at: Time,
});

/** Schema of the type `ReplyDraft`. */
export const ReplyDraftSchema = z.object({
  reply_id: ReplyId,
  answer: Text.optional(),
  outcome: z.enum(["refused", "answered", "input_required"]).optional(),
  citations: z.array(SourceSchema).optional(),
});

/** Schema of the type `EmailOrder`. */
export const EmailOrderSchema = z.object({ email_id: EmailId, run: RunIdSchema });

/** Schema of the type `RunWatch`. */
export const RunWatchSchema = z.object({
  run: StartedRunSchema,
  step: Name.nullable(),
  seconds: z.number().min(0),
});

/** Schema of the type `Prompt`. */
export const PromptSchema = z.object({ prompt: Text });

/** Schema of the type `ApprovalOpening`. */
export const ApprovalOpeningSchema = ApprovalRequestSchema.extend({ run: RunIdSchema });

/** Schema of the type `MoveOrder`. */
export const MoveOrderSchema = z.object({
  approval_id: ApprovalId,
  run: RunIdSchema,
  move: z.enum(["denied", "approved", "expired", "outdated", "reopened", "escalated"]),
  vote_id: VoteId.optional(),
  cycle: Count,
  ended: Word.optional(),
  change: Text.optional(),
});

/** Schema of the type `ResumeOrder`. */
export const ResumeOrderSchema = z.object({
  approval_id: ApprovalId,
  action_sha256: Digest,
  asking_run: RequestingRunSchema,
  receipt_id: SealedId,
});

/** Schema of the type `RunSummary`. */
const RunSummarySchema = z.object({
  outcome: z.enum(["sealed", "escalated"]),
  reason: Text.optional(),
  diagnosis: DiagnosisSchema.optional(),
  permission: PermissionSchema.optional(),
  effect: RepairEffectSchema.optional(),
  proof: VerifyResultSchema.optional(),
  undone: UndoResultSchema.optional(),
  rounds: Count,
});

/** Schema of the type `CloseOrder`. */
export const CloseOrderSchema = z.object({
  ticket_id: TicketId,
  finding: FindingSchema,
  run: RunIdSchema,
  summary: RunSummarySchema,
});

/** Schema of the type `RepairOrder`. */
export const RepairOrderSchema = z.object({
  ticket_id: TicketId,
  finding: FindingSchema,
  code: Word,
  diagnosis: z.object({
    citations: z.array(z.object({ id: Name, sha256: Digest })),
    classification: FaultClassSchema.nullable(),
  }),
  action: ActionSchema,
  round: Count,
  run: RunIdSchema,
});

/** Schema of the type `RepairRequest`. */
export const RepairRequestSchema = RepairOrderSchema.extend({ approval_id: ApprovalId.optional() });

/** Schema of the type `RoundOrder`. */
export const RoundOrderSchema = z.object({
  finding: FindingSchema,
  ticket_id: TicketId,
  code: Word,
  round: Count,
  run: RunIdSchema,
});

/** Schema of the type `ObserveOrder`. */
export const ObserveOrderSchema = RoundOrderSchema.extend({
  observers: z.array(z.enum(OBSERVERS)).min(1),
});

/** Schema of the type `TicketOrder`. */
export const TicketOrderSchema = z.object({
  finding: FindingSchema,
  code: Word,
  run: RunIdSchema,
});
