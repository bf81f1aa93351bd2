/** Compliance: scores, controls, risks and the cryptographic bill of materials. @module */
import { auditSummary } from "./audit.ts";
import { cbom } from "./cbom.ts";
import { grcControls, grcHealth, grcRisks, grcSummary } from "./grc.ts";
import { complianceScores, complianceStatus, complianceSummary } from "./scores.ts";

/** Operations of this folder. */
export const complianceOperations = [
  complianceScores,
  complianceSummary,
  complianceStatus,
  auditSummary,
  cbom,
  grcHealth,
  grcControls,
  grcRisks,
  grcSummary,
];
