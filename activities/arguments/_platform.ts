import { z } from "zod";
import {
  argumentsOf,
  BatchRangeSchema,
  Count,
  DeliveryId,
  FindingSchema,
  Fingerprint,
  RunIdSchema,
  ScrubPassSchema,
  TenantFailureSchema,
  TenantId,
  TenantSyncPlanSchema,
  TenantSyncSchema,
  Time,
} from "../../contract/domain/schemas/mod.ts";

/** A fault that was looked for and not found. Where any was looked for, it has no fingerprint. */
const NothingFoundSchema = FindingSchema.extend({ fingerprint: Fingerprint.or(z.literal("")) });

/** Schemas of the arguments of activities: platform. */
export const PLATFORM_ARGUMENTS = {
  settleLostCalls: argumentsOf(),
  settleOpenActs: argumentsOf(),
  runRelay: argumentsOf(),
  deliverWebhook: argumentsOf(z.object({ delivery_id: DeliveryId, attempt: Count })),
  orderMeasurements: argumentsOf(),
  sealHeartbeats: argumentsOf(Time.optional()),
  planTenantSync: argumentsOf(TenantSyncSchema),
  sealTenantSyncIntent: argumentsOf(TenantSyncPlanSchema, RunIdSchema),
  registerTenants: argumentsOf(z.array(TenantId)),
  sealTenantSync: argumentsOf(TenantSyncPlanSchema, z.array(TenantFailureSchema), RunIdSchema),
  openAnchors: argumentsOf(),
  advanceAnchor: argumentsOf(BatchRangeSchema),
  beginScrub: argumentsOf(),
  scrubPart: argumentsOf(ScrubPassSchema),
  endScrub: argumentsOf(ScrubPassSchema),
  sealClear: argumentsOf(z.object({ finding: NothingFoundSchema, run: RunIdSchema })),
  runLedgerSequencer: argumentsOf(),
};
