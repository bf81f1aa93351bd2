import { z } from "zod";
import { ApprovalId, Count, Digest, Id, Name, RunUuid, TicketId, VoteId } from "./ids.ts";
import { FindingSchema } from "./incidents.ts";

/** Schema of the type `RequestingRun`. */
export const RequestingRunSchema = z.object({
  finding: FindingSchema,
  workflow_id: Id,
  run_id: RunUuid,
});

/** Schema of the type `ApprovalRequest`. */
export const ApprovalRequestSchema = z.object({
  approval_id: ApprovalId,
  subject: Name,
  action_sha256: Digest,
  requested_by: Name,
  ticket_id: TicketId.optional(),
  action: z.record(z.string(), z.unknown()).optional(),
  asking_run: RequestingRunSchema.optional(),
  acts: z.boolean().optional(),
  reopens: z.object({ status: z.enum(["denied", "expired"]), moves: Count }).optional(),
  needed: Count.optional(),
  expires_in_seconds: Count.optional(),
  escalate_after_seconds: Count.optional(),
});

/** Schema of the type `VoteRef`. */
export const VoteRefSchema = z.object({ vote_id: VoteId });
