export type { AnchorBatch, AnchorSweep } from "./anchors.ts";
export type {
  ApprovalRequest,
  ApprovalResult,
  ApprovalState,
  ApprovalTerms,
  AskingRun,
  GovernedActResult,
  Voice,
} from "./approvals.ts";
export { ATTRIBUTE, startAttributes } from "./attributes.ts";
export {
  type AgentName,
  type AgentReport,
  AGENTS,
  type CrewRequest,
  type CrewResult,
  type Scene,
  type Suspect,
  type Triage,
  type Verification,
} from "./crew.ts";
export { type Decision, DECISIONS, stricter } from "./decision.ts";
export { type DetectorName, DETECTORS } from "./detectors.ts";
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
export { type ErrorName, type ErrorRule, ERRORS } from "./errors.ts";
export {
  type Finding,
  type LoopResult,
  type Progress,
  type RelatedFinding,
  type RunId,
  type StepName,
  type StepRecord,
  STEPS,
  type SweepResult,
} from "./incidents.ts";
export { API_VERSION, KEY_PREFIX, PRODUCT, SERVICE, TOOL_SERVER_VERSION } from "./names.ts";
export { type Phase, PHASES } from "./phase.ts";
export {
  type DraftedPlan,
  type Found,
  type Intake,
  type Look,
  type NodeName,
  type NodeRecord,
  NODES,
  type Objections,
  type Plan,
  type ReasoningRequest,
  type ReasoningResult,
  type Retrieved,
  type Safety,
  type Seen,
  type Source,
  type Topic,
  TOPICS,
} from "./reasoning.ts";
export type {
  Action,
  ActionStep,
  Diagnosis,
  Effect,
  Held,
  Permission,
  Proof,
  Repaired,
  StepEffect,
  Undone,
} from "./repairs.ts";
export type { ScanResult } from "./scans.ts";
export { SEVERITIES, type Severity, worse } from "./severity.ts";
export {
  ENDS,
  MOST_CHARACTERS,
  MOST_MESSAGES,
  type RuledCall,
  type SeenRun,
  type SkillTask,
  type StartedRun,
  TASK_STATES,
  type TaskArtifact,
  type TaskMessage,
  type TaskPart,
  type TaskRecord,
  type TaskState,
} from "./tasks.ts";
export type { DeliveryResult } from "./webhooks.ts";
export {
  approvalQuery,
  approveUpdate,
  cancelUpdate,
  denyUpdate,
  nodesQuery,
  progressQuery,
  reopenUpdate,
  reportsQuery,
  ruledSignal,
  sayUpdate,
  TASK_QUEUE,
  WORKFLOW,
} from "./workflows.ts";
export type {
  AnswerOrder,
  Authorship,
  Claim,
  DiagnosisOrder,
  Draft,
  DraftedAnswer,
  DraftedDiagnosis,
  Evidence,
  Judged,
  KeptDiagnosis,
} from "./writing.ts";
