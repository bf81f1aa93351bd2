import { z } from "zod";
import {
  ActId,
  ContactId,
  Count,
  DecisionId,
  DeviceId,
  Id,
  Name,
  TenantId,
  Text,
  Word,
} from "./ids.ts";
import { RunIdSchema } from "./incidents.ts";

/** Schema of the type `ActOrder`. */
export const ActOrderSchema = z.object({ act_id: ActId, decision_id: DecisionId });

/** Schema of the type `SequenceOrder`. */
export const SequenceOrderSchema = z.object({
  contact_id: ContactId,
  sequence: Word,
  key_id: Id.nullable(),
});

/** Schema of the type `TenantSync`. */
export const TenantSyncSchema = z.object({
  org_id: TenantId.optional(),
  dry_run: z.boolean().optional(),
});

/** Schema of the type `TenantSyncPlan`. */
export const TenantSyncPlanSchema = z.object({
  ambiguous: z.array(TenantId),
  created: z.array(TenantId),
  updated: z.array(TenantId),
  missing: z.array(TenantId),
  conflicts: z.array(z.object({ domain: Name, org_ids: z.array(TenantId) })),
});

/** Schema of the type `TenantFailure`. */
export const TenantFailureSchema = z.object({
  org_id: TenantId,
  outcome: z.enum(["unknown", "not_done"]),
  reason: Text,
});

/** Schema of the type `DiscoveryOrder`. */
export const DiscoveryOrderSchema = z.object({
  run: RunIdSchema,
  targets: z.array(Text),
  ports: z.array(Count),
  via_device: DeviceId.optional(),
  requested_by: Name,
  asked_by: Name.optional(),
});

/** Schema of the type `DiscoveryRequest`. */
export const DiscoveryRequestSchema = z.object({
  targets: z.array(Text),
  ports: z.array(Count),
  via_device: DeviceId.optional(),
  requested_by: Name,
  asked_by: Name.optional(),
});
