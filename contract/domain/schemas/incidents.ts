import { z } from "zod";
import { ATTACKS, DETECTORS, PlaceName, SCENARIOS, SEVERITIES } from "../mod.ts";
import {
  ApprovalId,
  Digest,
  DrillId,
  Fingerprint,
  Id,
  Name,
  RunUuid,
  SealedId,
  TenantId,
  Text,
  Time,
  Word,
} from "./ids.ts";

/** Schema of the type `RunId`. */
export const RunIdSchema = z.object({ workflow_id: Id, run_id: RunUuid });

/** Schema of the type `RelatedFinding`. */
const RelatedFindingSchema = z.object({
  service: Name.nullable(),
  code: Word,
  fingerprint: Fingerprint,
});

/** Schema of the type `Finding`. */
export const FindingSchema = z.object({
  tenant_id: TenantId.optional(),
  service: Name.nullable(),
  detector: z.enum(DETECTORS).optional(),
  check: z.enum([
    "certificate",
    "platform",
    "http",
    "tcp",
    "command",
    "host",
    "log",
    "alert",
    "report",
  ]),
  code: Word,
  fingerprint: Fingerprint,
  observed_at: Time,
  severity: z.enum(SEVERITIES).optional(),
  place: PlaceName.optional(),
  related: z.array(RelatedFindingSchema).optional(),
  requested_by: Name.optional(),
  tried_again: Text.optional(),
  report: Text.optional(),
  resumes: z.object({
    approval_id: ApprovalId,
    action_sha256: Digest,
    receipt_id: SealedId.nullable(),
  }).optional(),
});

/** Schema of the type `AttackRequest`. */
export const AttackRequestSchema = z.object({
  id: DrillId,
  scenario: z.enum(ATTACKS),
  requested_by: Name,
});

/** Schema of the type `TestRequest`. */
export const TestRequestSchema = z.object({
  id: DrillId,
  scenario: z.enum(SCENARIOS),
  requested_by: Name,
});
