import { z } from "zod";
import { ACT_STATES } from "../mod.ts";
import { ApprovalId, Count, Digest, Name, SealedId, Text, Time, Word } from "./ids.ts";

/** Schema of the type `FaultClass`. */
export const FaultClassSchema = z.object({
  category: Word,
  severity: Word,
  confidence: z.number().min(0),
  provider: Name,
});

/** Schema of the type `ActionStep`. */
const ActionStepSchema = z.looseObject({ step: Word, kind: Word, does: Text });

/** Schema of the type `Action`. */
export const ActionSchema = z.object({
  id: Word,
  runbook: Word,
  version: Word,
  service: Name,
  steps: z.array(ActionStepSchema),
  exceeds: z.array(Text),
  sources: z.object({
    runbook_sha256: Digest,
    commands_sha256: Digest,
    restart_sha256: Digest,
    check_sha256: Digest,
    values_sha256: Digest,
  }),
  instead_of: ApprovalId.optional(),
  sha256: Digest,
});

/** Schema of the type `Diagnosis`. */
export const DiagnosisSchema = z.object({
  symptom: Text,
  cause: Word.nullable(),
  cause_confidence: z.number().min(0).max(1),
  observations: z.array(Count),
  alternatives: z.array(
    z.object({ cause: Word, observations: z.array(Count), because: Text }),
  ),
  hypotheses: z.object({
    written_by: Text,
    order: z.array(z.object({ cause: Word, observations: z.array(Count) })),
  }).optional(),
  basis: z.enum(["observed", "measured", "words", "runbook_alone"]),
  classification: FaultClassSchema.nullable(),
  citations: z.array(z.object({ id: Name, sha256: Digest })),
  passed_over: z.array(z.object({ runbook: Word, code: Word })),
  action: ActionSchema.nullable(),
});

/** Schema of the type `Permission`. */
export const PermissionSchema = z.object({
  granted: z.boolean(),
  decision: z.enum(["allow", "needs_approval", "deny", "away", "taken"]),
  policy_version: Word.optional(),
  receipt_id: SealedId.nullable(),
  approval: z.object({ approval_id: ApprovalId, approvers: z.array(Name) }).optional(),
  grant: Word.optional(),
  use: z.number().optional(),
  requested_by: Name.optional(),
});

/** Schema of the type `PlaceSignature`. */
const PlaceSignatureSchema = z.object({
  action_id: Word,
  round: Count,
  step: Count,
  place: Digest,
  place_signature: z.string().regex(/^[0-9a-f]{128}$/),
});

/** Schema of the type `StepResult`. */
const StepResultSchema = z.object({
  id: Word,
  step: Word,
  kind: Word,
  state: z.enum(ACT_STATES),
  code: Word,
  ok: z.boolean(),
  counts: z.record(z.string(), z.number()).optional(),
  signed: PlaceSignatureSchema.optional(),
});

/** Schema of the type `RepairEffect`. */
export const RepairEffectSchema = z.object({
  id: Word,
  state: z.enum(["unknown", "done", "not_done", "partly_done"]),
  code: Word,
  steps: z.array(StepResultSchema),
  undoable: z.boolean(),
});

/** Schema of the type `VerifyResult`. */
export const VerifyResultSchema = z.object({ healthy: z.boolean(), code: Word });

/** Schema of the type `RepairHold`. */
const RepairHoldSchema = z.object({
  kind: z.enum(["all", "key", "tool", "maintenance", "guardrails"]),
  name: Name,
  until: Time.optional(),
});

/** Schema of the type `UndoResult`. */
export const UndoResultSchema = z.object({
  state: z.enum(ACT_STATES),
  code: Word,
  steps: z.array(StepResultSchema),
  held: RepairHoldSchema.optional(),
});

/** Schema of the type `RepairSubject`. */
export const RepairSubjectSchema = z.object({ service: Name, requested_by: Name.optional() });
