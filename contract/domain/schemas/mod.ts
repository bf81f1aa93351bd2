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
export {
  AttackRequestSchema,
  FindingSchema,
  RelatedFindingSchema,
  RunIdSchema,
  TestRequestSchema,
} from "./incidents.ts";
export {
  AnchorBatchSchema,
  BatchRangeSchema,
  ChainSnapshotSchema,
  CheckpointRootSchema,
  PlaceSchema,
  ScrubPassSchema,
  TrustedKeySchema,
} from "./ledger.ts";
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
  AgentAnswerSchema,
  AgentReportSchema,
  AnswerInputSchema,
  ConversationRequestSchema,
  CrewRequestSchema,
  CrewScopeSchema,
  GivenAnswerSchema,
  IntakeSchema,
  LookupResultSchema,
  LookupSchema,
  ObjectionsSchema,
  PeerRequestSchema,
  PlanSchema,
  QuestionSchema,
  ReasoningRequestSchema,
  RetrievedSchema,
  SafetySchema,
  SourceSchema,
  SuspectSchema,
} from "./reasoning.ts";
export {
  ActionSchema,
  ActionStepSchema,
  DiagnosisSchema,
  FaultClassSchema,
  PermissionSchema,
  RepairEffectSchema,
  RepairHoldSchema,
  RepairSubjectSchema,
  StepResultSchema,
  UndoResultSchema,
  VerifyResultSchema,
} from "./repairs.ts";
export {
  SkillTaskSchema,
  StartedRunSchema,
  TaskArtifactSchema,
  TaskMessageSchema,
  TaskRecordSchema,
} from "./tasks.ts";
export {
  AnswerDraftSchema,
  AnswerRequestSchema,
  ClaimSchema,
  DiagnosisDraftSchema,
  DiagnosisRequestSchema,
  EvidenceSchema,
} from "./writing.ts";
export { argumentsOf, type ArgumentsSchema, parseArguments, type SchemaOf } from "./arguments.ts";
export {
  ActId,
  ApprovalId,
  ArticleId,
  CommandId,
  ContactId,
  ConversationId,
  Count,
  DecisionId,
  DeliveryId,
  DeviceId,
  Digest,
  DrillId,
  DrillService,
  EmailId,
  Fingerprint,
  Id,
  ItemId,
  MediaId,
  MessageId,
  Name,
  ReplyId,
  RunUuid,
  SealedId,
  TenantId,
  Text,
  TicketId,
  Time,
  VoteId,
  Word,
} from "./ids.ts";
