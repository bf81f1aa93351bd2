export { ComposedText, cutText, fillIn, joinTexts, say, type Span, type Text } from "./composed.ts";
export { type Act, actOnce } from "./act_once.ts";
export {
  ARTICLE_SOURCES,
  ARTICLE_STATES,
  ARTICLE_STEPS,
  type ArticleAuthorship,
  type ArticleBlock,
  type ArticleCheck,
  type ArticleDeployOrder,
  articleDeployWorkflowId,
  type ArticleFact,
  type ArticleOrder,
  type ArticleResult,
  type ArticleSection,
  type ArticleSentence,
  type ArticleSource,
  type ArticleState,
  type ArticleStep,
  type ArticleText,
  articleWorkflowId,
  DEPLOY_TARGETS,
  type DeployTarget,
} from "./articles.ts";
export {
  type AgentKind,
  type AgentName,
  AGENTS,
  BUILT_IN_AGENTS,
  isBuiltInAgent,
  kindOfAgent,
} from "./agents.ts";
export type { AnchorBatch, AnchorSweep } from "./anchors.ts";
export {
  type ApprovalRequest,
  type ApprovalResult,
  type ApprovalState,
  type ApprovalTerms,
  type HeldCallResult,
  type RepairOffer,
  type RequestingRun,
  type VoteRef,
} from "./approvals.ts";
export { ATTRIBUTE, startAttributes, tenantAttribute, tenantOfAttributes } from "./attributes.ts";
export {
  type NumberedObservation,
  type Observation,
  OBSERVATION_SOURCES,
  OBSERVED,
  type ObserverName,
  OBSERVERS,
} from "./observations.ts";
export { CATEGORIES, type Category } from "./categories.ts";
export type {
  AgentAnswer,
  ConversationRequest,
  GivenAnswer,
  PeerOutcome,
  PeerRequest,
  Question,
} from "./conversations.ts";
export {
  type AgentReport,
  type CrewRequest,
  type CrewResult,
  type CrewScope,
  type Examination,
  type Suspect,
  type Triage,
  type Verification,
} from "./crew.ts";
export { CHECK_RESULTS, type CheckResult, DEVICE_PLATFORMS } from "./posture.ts";
export { type Decision, DECISIONS, stricter } from "./decision.ts";
export {
  describeSettingsFile,
  describeWhileRefused,
  SETTINGS_FILES,
  type SettingsFileName,
} from "./settings_files.ts";
export { type DetectorName, DETECTORS } from "./detectors.ts";
export { GROUPS } from "./groups.ts";
export {
  COMMAND_STATUSES,
  type CommandAck,
  type CommandEnd,
  type CommandResult,
  type CommandStatus,
  commandWorkflowId,
  type DeviceStatement,
  hasCommandEnded,
} from "./device_commands.ts";
export {
  APPROVAL_DOMAIN,
  type ApproverPasskey,
  APPROVERS_DOMAIN,
  DEVICE_LIMITS,
  type DeviceBundle,
  type DeviceCommand,
  type DeviceLog,
  type DeviceScript,
  type PasskeyApproval,
  REFUSAL_CODES,
  REPLACE_DEVICE,
  toDeviceScript,
} from "./devices.ts";
export {
  type DiscoveredHost,
  DISCOVERY_LIMITS,
  DISCOVERY_PORTS,
  type DiscoveryOrder,
  type DiscoveryRequest,
  type DiscoveryResult,
} from "./discovery.ts";
export {
  type AttackCounts,
  type AttackRequest,
  type AttackResult,
  ATTACKS,
  type AttackScenario,
  DRILL_SERVICE_PATTERN,
  type Scenario,
  SCENARIOS,
  type TestRequest,
} from "./drills.ts";
export {
  activityOf,
  enclose,
  type Envelope,
  ENVELOPE_MARK,
  type ExpectedEnvelope,
  isEnvelope,
  isRefused,
  openEnvelope,
  refusePayload,
  UNAUTHENTICATED,
} from "./envelopes.ts";
export { type ErrorName, type ErrorRule, ERRORS } from "./errors.ts";
export { describeFailure } from "./failures.ts";
export {
  COMES_BACK,
  type Finding,
  FINDING_CHECKS,
  type FindingCheck,
  FLAPPING,
  type LoopResult,
  type Progress,
  type RelatedFinding,
  RESTART_ASKED,
  type RunId,
  type StepName,
  type StepRecord,
  STEPS,
  type SweepResult,
  UNPROVEN,
} from "./incidents.ts";
export { FLAG_NAMES, type FlagName, FLAGS } from "./flags.ts";
export {
  INTEGRATION_MODES,
  INTEGRATION_STATUSES,
  type IntegrationMode,
  type IntegrationName,
  INTEGRATIONS,
  type IntegrationStatus,
  type IntegrationView,
  type IntegrationViewer,
  type IntegrationViews,
} from "./integrations.ts";
export {
  EMAIL_STATES,
  type EmailKind,
  type EmailResult,
  type EmailState,
  emailWorkflowId,
  type MailFinding,
  type ReplyResult,
  replyWorkflowId,
  type SequenceOrder,
  type SequenceResult,
  sequenceWorkflowId,
} from "./mail.ts";
export {
  FILM_FORMATS,
  type FilmArtifacts,
  type FilmResult,
  MEDIA_LIMITS,
  MEDIA_STATES,
  type MediaOrder,
  type MediaProgress,
  type MediaRequest,
  type MediaState,
  type SceneOrder,
  type Segment,
  type SpeechResult,
  type TranscriptionResult,
} from "./media.ts";
export {
  MODEL_PROVIDERS,
  type ModelProvider,
  PRIVACY_MODES,
  type PrivacyMode,
  stricterPrivacy,
} from "./models.ts";
export {
  asksPeople,
  type Channel,
  CHANNELS,
  MESSAGE_KINDS,
  type MessageKind,
  type MessageRefs,
} from "./messages.ts";
export {
  PROCESS_NAMES,
  PROCESS_STATUSES,
  type ProcessName,
  type ProcessStatus,
} from "./processes.ts";
export type { NoticeOrder, NoticeResult } from "./notices.ts";
export {
  ACT_STATES,
  type ActAttempt,
  type ActOrder,
  type ActProof,
  type ActResult,
  type ActState,
  actWorkflowId,
} from "./outside.ts";
export type {
  ApprovalStatement,
  Assertion,
  CallStatement,
  GrantStatement,
  GrantTerms,
  ListPlace,
  ListStatement,
  Passkey,
  PasskeyAnswer,
  PublicJwk,
  Registration,
  SignedGrant,
  SignedStatement,
} from "./passkeys.ts";
export { type Phase, PHASES } from "./phase.ts";
export { type IncidentPicture, TIMELINE_STEPS, type TimelineStep } from "./timeline.ts";
export type { PlatformFigures } from "./platform_figures.ts";
export {
  itemApprovalId,
  PIPELINE_STAGES,
  type PipelineStage,
  PUBLISHING_NAMES,
  PUBLISHING_STATES,
  type PublishOrder,
  type PublishResult,
  publishWorkflowId,
} from "./publishing.ts";
export {
  ANONYMOUS_ACTOR,
  API_VERSION,
  KEY_PREFIX,
  LOOP_ACTOR,
  PERSON_ACTOR,
  PLATFORM_TENANT,
  PRODUCT,
  SERVICE,
  SHARED_TENANT,
  TOOL_SERVER_VERSION,
} from "./names.ts";
export {
  type AnswerInput,
  type Intake,
  type Lookup,
  type LookupResult,
  type NodeName,
  type NodeRecord,
  NODES,
  type Objections,
  type Plan,
  type PlanDraft,
  PLATFORM_SOURCE,
  type ReasoningRequest,
  type ReasoningResult,
  type Retrieved,
  type Safety,
  type Source,
  type Topic,
} from "./reasoning.ts";
export type {
  Action,
  ActionSources,
  Diagnosis,
  Permission,
  PlaceSignature,
  RepairEffect,
  RepairHold,
  RepairResult,
  RepairSubject,
  StepResult,
  UndoResult,
  VerifyResult,
} from "./repairs.ts";
export { isChange } from "./repairs.ts";
export type { ScanResult } from "./scans.ts";
export { SEVERITIES, type Severity, worse } from "./severity.ts";
export {
  type HeldCallStatus,
  MAX_CHARACTERS,
  MAX_MESSAGES,
  type RunState,
  type SkillTask,
  type StartedRun,
  type TaskArtifact,
  type TaskMessage,
  type TaskPart,
  type TaskRecord,
  type TaskState,
  TERMINAL_STATES,
} from "./tasks.ts";
export { type Routine, routineId, type RoutineName, ROUTINES } from "./routines.ts";
export type { TenantFailure, TenantSync, TenantSyncPlan, TenantSyncResult } from "./tenants.ts";
export type { DeliveryResult } from "./webhooks.ts";
export { ANY_PLACE, PLACE_AWAY, PlaceName, placeOfHost, placeQueue } from "./place.ts";
export {
  approvalQuery,
  approveUpdate,
  askUpdate,
  callChangedSignal,
  cancelUpdate,
  commandChangedSignal,
  denyUpdate,
  everySignal,
  mediaProgressQuery,
  nodesQuery,
  nowSignal,
  progressQuery,
  recheckSignal,
  reopenUpdate,
  reportsQuery,
  sayUpdate,
  TASK_QUEUE,
  WORKFLOW,
  WORKFLOW_PURPOSE,
  type WorkflowName,
} from "./workflows.ts";
export type {
  AnswerDraft,
  AnswerRequest,
  Authorship,
  Claim,
  DiagnosisDraft,
  DiagnosisRequest,
  Draft,
  Evidence,
  Review,
  ReviewedDiagnosis,
} from "./writing.ts";
