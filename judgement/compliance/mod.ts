/**
 * Compliance: controls of three frameworks as data, assessed by the facts about the platform.
 *
 * ```ts
 * const frameworks = assess(readCatalogue(), facts);
 * const risks = deriveRisks(frameworks);
 * ```
 *
 * It is an assessment of the platform by itself, and no certificate: evidence that it can't see counts as missing.
 * @module
 */
export type { EvidenceResult, EvidenceState } from "./_evidence.ts";
export { type Algorithm, readAlgorithms } from "./algorithms.ts";
export {
  assess,
  type AssessedControl,
  type AssessedFramework,
  type ControlEvidence,
  type ControlState,
  deriveRisks,
  type ProvingReceipt,
  type Risk,
} from "./assess.ts";
export {
  type Control,
  type Framework,
  type FrameworkName,
  FRAMEWORKS,
  readCatalogue,
} from "./catalogue.ts";
export { buildCbom, type CbomParts } from "./cbom.ts";
export { EVIDENCE, EVIDENCE_RECEIPT_CATEGORIES, type EvidenceName } from "./evidence.ts";
export {
  daysSince,
  type Facts,
  type KnownReceipts,
  receiptsOf,
  type Transport,
  transportOf,
} from "./facts.ts";
export {
  type AssessmentParts,
  assessPlatform,
  type ControlCounts,
  countControls,
} from "./platform_assessment.ts";
