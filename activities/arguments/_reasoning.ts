import { z } from "zod";
import { AGENTS } from "../../contract/domain/mod.ts";
import {
  AgentReportSchema,
  AnswerDraftSchema,
  AnswerInputSchema,
  AnswerRequestSchema,
  argumentsOf,
  CrewScopeSchema,
  DiagnosisDraftSchema,
  DiagnosisRequestSchema,
  ExaminationSchema,
  IntakeSchema,
  LookupResultSchema,
  LookupSchema,
  RetrievedSchema,
  SafetySchema,
  Text,
} from "../../contract/domain/schemas/mod.ts";
import { PromptSchema } from "./_orders.ts";

/** Schemas of the arguments of activities: reasoning. */
export const REASONING_ARGUMENTS = {
  draftDiagnosis: argumentsOf(DiagnosisRequestSchema, z.array(Text)),
  reviewDiagnosis: argumentsOf(DiagnosisRequestSchema, DiagnosisDraftSchema),
  triageIncident: argumentsOf(z.object({ incident: Text })),
  examineServices: argumentsOf(CrewScopeSchema),
  inspectLogs: argumentsOf(CrewScopeSchema, z.array(ExaminationSchema)),
  inspectMetrics: argumentsOf(CrewScopeSchema, z.array(ExaminationSchema)),
  inspectTopology: argumentsOf(CrewScopeSchema, z.array(ExaminationSchema)),
  inspectChanges: argumentsOf(CrewScopeSchema, z.array(ExaminationSchema)),
  verifySuspects: argumentsOf(CrewScopeSchema, z.array(AgentReportSchema)),
  draftPlan: argumentsOf(z.object({ prompt: Text })),
  draftAnswer: argumentsOf(AnswerRequestSchema, z.array(Text)),
  reviewAnswer: argumentsOf(AnswerRequestSchema, AnswerDraftSchema),
  readPrompt: argumentsOf(PromptSchema),
  checkPrompt: argumentsOf(PromptSchema),
  classifyPrompt: argumentsOf(PromptSchema),
  planLookups: argumentsOf(IntakeSchema, RetrievedSchema),
  planAgentLookups: argumentsOf(z.enum(AGENTS), IntakeSchema, RetrievedSchema),
  lookUp: argumentsOf(LookupSchema),
  verifyLookups: argumentsOf(IntakeSchema, z.array(LookupResultSchema)),
  composeAnswer: argumentsOf(AnswerInputSchema),
  composeRefusal: argumentsOf(SafetySchema),
  composeQuestion: argumentsOf(RetrievedSchema),
};
