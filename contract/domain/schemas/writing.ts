import { z } from "zod";
import { Count, Name, Text } from "./ids.ts";

/** Schema of the type `Claim`. */
export const ClaimSchema = z.object({ text: Text, evidence: z.array(Count) });

/** Schema of the type `AnswerDraft`. */
export const AnswerDraftSchema = z.object({ claims: z.array(ClaimSchema) });

/** Schema of the type `Evidence`. */
export const EvidenceSchema = z.object({ n: Count, from: Name, text: Text });

/** Schema of the type `DiagnosisRequest`. */
export const DiagnosisRequestSchema = z.object({
  incident: Text,
  evidence: z.array(EvidenceSchema),
  support: z.record(z.string(), z.number()),
  services: z.array(Name),
});

/** Schema of the type `DiagnosisDraft`. */
export const DiagnosisDraftSchema = z.object({
  cause: Text,
  confidence: z.number().min(0),
  diagnosis: ClaimSchema,
  steps: z.array(ClaimSchema),
});

/** Schema of the type `AnswerRequest`. */
export const AnswerRequestSchema = z.object({
  prompt: Text,
  evidence: z.array(EvidenceSchema),
});
