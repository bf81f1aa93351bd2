/** Schemas of what workflows take: of their own arguments, and of those of their signals and updates. */
import { z } from "zod";
import type { WorkflowName } from "../contract/domain/mod.ts";
import {
  ActOrderSchema,
  AnchorBatchSchema,
  ApprovalId,
  ApprovalRequestSchema,
  argumentsOf,
  type ArgumentsSchema,
  ArticleDeployOrderSchema,
  ArticleOrderSchema,
  AttackRequestSchema,
  CommandId,
  ConversationRequestSchema,
  CrewRequestSchema,
  DeliveryId,
  DiscoveryRequestSchema,
  EmailId,
  FindingSchema,
  MediaRequestSchema,
  MessageId,
  Name,
  parseArguments,
  PeerRequestSchema,
  PublishOrderSchema,
  ReasoningRequestSchema,
  ReplyId,
  RoutineSchema,
  ScrubPassSchema,
  SequenceOrderSchema,
  SkillTaskSchema,
  StartedRunSchema,
  TaskMessageSchema,
  TaskRecordSchema,
  TenantSyncSchema,
  TestRequestSchema,
  VoteRefSchema,
} from "../contract/domain/schemas/mod.ts";

/** Schemas of the arguments of workflows. */
export const WORKFLOW_ARGUMENTS = {
  a2aSkill: argumentsOf(SkillTaskSchema, StartedRunSchema.optional()),
  a2aTask: argumentsOf(TaskRecordSchema),
  anchorBatch: argumentsOf(AnchorBatchSchema),
  anchorReceipts: argumentsOf(),
  approval: argumentsOf(ApprovalRequestSchema),
  attackSimulation: argumentsOf(AttackRequestSchema),
  conversation: argumentsOf(ConversationRequestSchema),
  crew: argumentsOf(CrewRequestSchema),
  crmSequence: argumentsOf(SequenceOrderSchema),
  deviceDiscovery: argumentsOf(DiscoveryRequestSchema),
  emailReply: argumentsOf(z.object({ reply_id: ReplyId })),
  deviceCommand: argumentsOf(z.object({ command_id: CommandId })),
  governedAct: argumentsOf(z.object({ approval_id: ApprovalId })),
  reconcileRuns: argumentsOf(),
  itsmLoop: argumentsOf(FindingSchema),
  itsmSweep: argumentsOf(Name.optional()),
  itsmTest: argumentsOf(TestRequestSchema),
  notice: argumentsOf(MessageId),
  tellDue: argumentsOf(),
  outsideAct: argumentsOf(ActOrderSchema),
  peerMessage: argumentsOf(PeerRequestSchema),
  mailbox: argumentsOf(),
  publish: argumentsOf(PublishOrderSchema),
  reasoning: argumentsOf(ReasoningRequestSchema),
  relay: argumentsOf(),
  routine: argumentsOf(RoutineSchema),
  scrubLedger: argumentsOf(ScrubPassSchema.optional()),
  securityScan: argumentsOf(),
  seo: argumentsOf(ArticleOrderSchema),
  seoDeploy: argumentsOf(ArticleDeployOrderSchema),
  sendEmail: argumentsOf(z.object({ email_id: EmailId })),
  ledgerSequencer: argumentsOf(),
  speech: argumentsOf(MediaRequestSchema),
  tenantSync: argumentsOf(TenantSyncSchema),
  transcription: argumentsOf(MediaRequestSchema),
  video: argumentsOf(MediaRequestSchema),
  webhookDelivery: argumentsOf(DeliveryId),
} satisfies Record<WorkflowName, ArgumentsSchema>;

/** Schemas of the arguments of updates. */
const UPDATE_ARGUMENTS: Readonly<Record<string, ArgumentsSchema>> = {
  approve: argumentsOf(VoteRefSchema),
  deny: argumentsOf(VoteRefSchema),
  reopen: argumentsOf(VoteRefSchema),
  say: argumentsOf(TaskMessageSchema),
  cancel: argumentsOf(),
  ask: argumentsOf(z.object({ question_id: MessageId })),
};

/** Schemas of the arguments of signals. */
const SIGNAL_ARGUMENTS: Readonly<Record<string, ArgumentsSchema>> = {
  callChanged: argumentsOf(),
  commandChanged: argumentsOf(),
  every: argumentsOf(RoutineSchema.shape.every_seconds),
  now: argumentsOf(),
  recheck: argumentsOf(),
};

/** Parses the arguments of a signal or an update. @throws {ApplicationFailure} `InvalidInput` */
export function parseCall(
  kind: "signal" | "update",
  name: string,
  args: readonly unknown[],
): unknown[] {
  const schemas = kind === "signal" ? SIGNAL_ARGUMENTS : UPDATE_ARGUMENTS;
  return parseArguments(`${kind} ${name}`, schemas[name], args);
}
