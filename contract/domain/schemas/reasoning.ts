import { z } from "zod";
import { AGENTS, OBSERVATION_SOURCES, type Text as AnyText } from "../mod.ts";
import { ConversationId, Count, Digest, Id, MessageId, Name, Text, TicketId, Word } from "./ids.ts";
import { RunIdSchema } from "./incidents.ts";
import { ClaimSchema, EvidenceSchema } from "./writing.ts";

/** A text that may be composed where it is made, and is plain where it arrives. */
const Sentence = Text as z.ZodType<string> as z.ZodType<AnyText>;

/** Schema of the type `Source`. */
export const SourceSchema = z.object({
  id: Name,
  kind: z.enum([
    "ticket",
    "service",
    "platform",
    "approval",
    "article",
    "incident",
    "receipt",
    "note",
  ]),
  title: Text,
  sha256: Digest.optional(),
});

/** Schema of the type `PeerRequest`. */
export const PeerRequestSchema = z.object({
  question_id: MessageId,
  requested_by: Name,
  agent: Word,
  conversation_id: ConversationId,
});

/** Schema of the type `Question`. */
const QuestionSchema = z.object({
  question_id: MessageId,
  attempt: Count,
  prompt: Text,
  assumed: z.array(Text),
});

/** Schema of the type `AgentAnswer`. */
const AgentAnswerSchema = z.object({
  outcome: z.enum(["refused", "unknown", "failed", "not_done", "answered", "input_required"]),
  answer: Text,
  written_by: Name,
  provider: Name,
  dropped: z.array(Text),
  fallback: Text.nullable(),
  citations: z.array(SourceSchema),
  model_calls: Count,
});

/** Schema of the type `GivenAnswer`. */
export const GivenAnswerSchema = z.object({
  question: QuestionSchema,
  answer: AgentAnswerSchema,
  run: RunIdSchema,
  agent: Word,
  conversation_id: ConversationId,
});

/** Schema of the type `CrewScope`. */
export const CrewScopeSchema = z.object({
  incident: Text,
  services: z.array(Name),
  round: Count,
});

/** Schema of the type `Suspect`. */
const SuspectSchema = z.object({
  service: Name,
  weight: z.number(),
  why: Sentence,
});

/** Schema of the type `AgentReport`. */
export const AgentReportSchema = z.object({
  agent: z.enum(AGENTS),
  round: Count,
  says: z.array(Sentence),
  sources: z.array(SourceSchema),
  suspects: z.array(SuspectSchema),
});

/** Schema of the type `Examination`. */
export const ExaminationSchema = z.object({
  service: Name,
  ticket_id: TicketId.nullable(),
  symptom: Word,
  cause: Word.nullable(),
  says: Sentence,
  cause_confidence: z.number().min(0).max(1),
  category: Word.nullable(),
  observations: z.array(Count),
  alternatives: z.array(z.object({ cause: Word, observations: z.array(Count), because: Text })),
  seen: z.array(
    z.object({ number: Count, source: z.enum(OBSERVATION_SOURCES), code: Word, says: Sentence }),
  ),
});

/** Schema of the type `Intake`. */
export const IntakeSchema = z.object({
  kind: z.enum(["incident", "question", "unclear"]),
  services: z.array(Name),
  tickets: z.array(Name),
  receipts: z.array(Name),
  topics: z.array(
    z.enum(["ledger", "status", "incidents", "approvals", "services", "repairs", "figures"]),
  ),
  beyond: Name.optional(),
});

/** Schema of the type `Retrieved`. */
export const RetrievedSchema = z.object({
  classification: z.object({
    category: Word,
    severity: Word,
    confidence: z.number().min(0),
    recommended_action: Text,
  }).nullable(),
  provider: Name.nullable(),
  articles: z.array(SourceSchema),
});

/** Schema of the type `Lookup`. */
export const LookupSchema = z.object({ tool: Word, arguments: z.record(z.string(), Text) });

/** Schema of the type `LookupResult`. */
export const LookupResultSchema = z.object({
  lookup: LookupSchema,
  says: z.array(Sentence),
  sources: z.array(SourceSchema),
  data: z.record(z.string(), z.unknown()),
});

/** Schema of the type `Plan`. */
const PlanSchema = z.object({
  kind: z.enum(["incident", "question", "unclear"]),
  lookups: z.array(LookupSchema),
});

/** Schema of the type `Objections`. */
const ObjectionsSchema = z.object({ holds: z.boolean(), objections: z.array(Sentence) });

/** Schema of the type `AnswerInput`. */
export const AnswerInputSchema = z.object({
  plan: PlanSchema,
  retrieved: RetrievedSchema,
  results: z.array(LookupResultSchema),
  objections: ObjectionsSchema,
  draft: z.object({ claims: z.array(ClaimSchema), evidence: z.array(EvidenceSchema) })
    .optional(),
});

/** Schema of the type `Safety`. */
export const SafetySchema = z.object({ passed: z.boolean(), reasons: z.array(Text) });

/** Schema of the type `ConversationRequest`. */
export const ConversationRequestSchema = z.object({
  conversation_id: ConversationId,
  agent: Word,
  key_id: Id,
  idle_seconds: Count,
  max_answers: Count,
});

/** Schema of the type `CrewRequest`. */
export const CrewRequestSchema = z.object({ incident: Text, requested_by: Name });

/** Schema of the type `ReasoningRequest`. */
export const ReasoningRequestSchema = z.object({
  prompt: Text,
  requested_by: Name,
  agent: z.enum(AGENTS).optional(),
});
