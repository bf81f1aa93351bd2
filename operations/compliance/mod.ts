/** Compliance: scores, controls, risks and the CBOM. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { cbom } from "./cbom.ts";
import { grcControls, grcHealth, grcRisks, grcSummary } from "./grc.ts";
import { auditSummary, complianceScores, complianceStatus, complianceSummary } from "./scores.ts";

/** Operations of this folder. */
export const complianceOperations: readonly Operation<Platform>[] = [
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
