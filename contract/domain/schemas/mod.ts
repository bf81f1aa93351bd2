/**
 * Schemas of what is passed to workflows and activities. Each is parsed at its door before anything happens.
 *
 * ```ts
 * const LOOP_ARGUMENTS = { removeSandbox: argumentsOf(z.object({ id: DrillId })) };
 * ```
 *
 * @module
 */
export { ApprovalRequestSchema, RequestingRunSchema, VoteRefSchema } from "./approvals.ts";
export { AttackRequestSchema, FindingSchema, RunIdSchema, TestRequestSchema } from "./incidents.ts";
export { AnchorBatchSchema, BatchRangeSchema, ScrubPassSchema } from "./ledger.ts";
export { MediaOrderSchema, MediaRequestSchema, SceneOrderSchema } from "./media.ts";
export {
  ActOrderSchema,
  DiscoveryOrderSchema,
  DiscoveryRequestSchema,
  SequenceOrderSchema,
  TenantFailureSchema,
  TenantSyncPlanSchema,
  TenantSyncSchema,
} from "./outside.ts";
export {
  ArticleAuthorshipSchema,
  ArticleDeployOrderSchema,
  ArticleOrderSchema,
  PublishOrderSchema,
} from "./publishing.ts";
export {
  AgentReportSchema,
  AnswerInputSchema,
  ConversationRequestSchema,
  CrewRequestSchema,
  CrewScopeSchema,
  ExaminationSchema,
  GivenAnswerSchema,
  IntakeSchema,
  LookupResultSchema,
  LookupSchema,
  PeerRequestSchema,
  ReasoningRequestSchema,
  RetrievedSchema,
  SafetySchema,
  SourceSchema,
} from "./reasoning.ts";
export {
  ActionSchema,
  DiagnosisSchema,
  FaultClassSchema,
  PermissionSchema,
  RepairEffectSchema,
  RepairSubjectSchema,
  UndoResultSchema,
  VerifyResultSchema,
} from "./repairs.ts";
export { RoutineSchema } from "./routines.ts";
export { SkillTaskSchema, StartedRunSchema, TaskMessageSchema, TaskRecordSchema } from "./tasks.ts";
export {
  AnswerDraftSchema,
  AnswerRequestSchema,
  DiagnosisDraftSchema,
  DiagnosisRequestSchema,
} from "./writing.ts";
export { argumentsOf, type ArgumentsSchema, parseArguments, type SchemaOf } from "./arguments.ts";
export {
  ApprovalId,
  ArticleId,
  CommandId,
  ConversationId,
  Count,
  DeliveryId,
  Digest,
  DrillId,
  DrillService,
  EmailId,
  Fingerprint,
  Id,
  ItemId,
  MessageId,
  Name,
  ReplyId,
  SealedId,
  TenantId,
  Text,
  TicketId,
  Time,
  VoteId,
  Word,
} from "./ids.ts";
