import { z } from "zod";
import { ApprovalId, Count, Id, Name, RunUuid, Text, Time, Word } from "./ids.ts";

/** Schema of the type `TaskMessage`. */
export const TaskMessageSchema = z.object({
  message_id: Name,
  role: z.enum(["user", "agent"]),
  parts: z.array(
    z.union([
      z.object({ text: Text }),
      z.object({ data: z.record(z.string(), z.unknown()) }),
    ]),
  ),
});

/** Schema of the type `TaskArtifact`. */
const TaskArtifactSchema = z.object({
  artifact_id: Id,
  name: Name,
  parts: z.array(
    z.union([
      z.object({ text: Text }),
      z.object({ data: z.record(z.string(), z.unknown()) }),
    ]),
  ),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** Schema of the type `TaskRecord`. */
export const TaskRecordSchema = z.object({
  id: Id,
  context_id: Name,
  key_id: Id,
  state: z.enum([
    "failed",
    "rejected",
    "completed",
    "submitted",
    "working",
    "input-required",
    "canceled",
  ]),
  version: Count,
  since: Time,
  said: TaskMessageSchema.nullable(),
  history: z.array(TaskMessageSchema),
  artifacts: z.array(TaskArtifactSchema),
  skill: Word.optional(),
  approval_id: ApprovalId.optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
});

/** Schema of the type `StartedRun`. */
export const StartedRunSchema = z.looseObject({ workflow_id: Id, run_id: RunUuid });

/** Schema of the type `SkillTask`. */
export const SkillTaskSchema = TaskRecordSchema.extend({ skill: Word });
