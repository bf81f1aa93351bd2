import { z } from "zod";
import { ACT_STATES } from "../../contract/domain/mod.ts";
import {
  ApprovalId,
  argumentsOf,
  ConversationId,
  GivenAnswerSchema,
  Id,
  MessageId,
  Name,
  PeerRequestSchema,
  RunIdSchema,
  StartedRunSchema,
  TaskRecordSchema,
  Word,
} from "../../contract/domain/schemas/mod.ts";
import {
  ApprovalOpeningSchema,
  MoveOrderSchema,
  NoticeAttemptSchema,
  ResumeOrderSchema,
  RunWatchSchema,
} from "./_orders.ts";

/** Schemas of the arguments of activities: people. */
export const PEOPLE_ARGUMENTS = {
  tellWhatIsDue: argumentsOf(),
  readNotice: argumentsOf(MessageId),
  isNoticeNeeded: argumentsOf(MessageId),
  deliverNotice: argumentsOf(NoticeAttemptSchema),
  endNotice: argumentsOf(MessageId),
  resumeSubject: argumentsOf(z.object({ approval_id: ApprovalId })),
  storeTask: argumentsOf(TaskRecordSchema),
  storeTaskResult: argumentsOf(
    z.union([
      z.object({ task: TaskRecordSchema, skill: Word, run: StartedRunSchema }),
      z.object({ task: TaskRecordSchema, skill: Word, approval_id: ApprovalId }),
    ]),
  ),
  watchRun: argumentsOf(RunWatchSchema),
  cancelRun: argumentsOf(z.object({ skill: Word, run: StartedRunSchema })),
  getHeldCallStatus: argumentsOf(z.object({ approval_id: ApprovalId })),
  withdrawCall: argumentsOf(z.object({ approval_id: ApprovalId, task_id: Id })),
  intendPeerMessage: argumentsOf(PeerRequestSchema, RunIdSchema),
  sendPeerMessage: argumentsOf(PeerRequestSchema),
  readPeerTask: argumentsOf(z.object({ agent: Word, id: Name })),
  sealPeerOutcome: argumentsOf(
    PeerRequestSchema,
    RunIdSchema,
    z.object({ state: z.enum(ACT_STATES), code: Word }),
  ),
  takeQuestion: argumentsOf(z.object({ agent: Word, conversation_id: ConversationId })),
  giveAnswer: argumentsOf(GivenAnswerSchema),
  startHeldCall: argumentsOf(z.object({ approval_id: ApprovalId })),
  runHeldCall: argumentsOf(z.object({ approval_id: ApprovalId, run: RunIdSchema })),
  openApproval: argumentsOf(ApprovalOpeningSchema),
  moveApproval: argumentsOf(MoveOrderSchema),
  deliverWaitingVotes: argumentsOf(),
  resumeAfterApproval: argumentsOf(ResumeOrderSchema),
};
