/**
 * Controls of three frameworks as data, held against what is true of the platform right now.
 *
 * ```ts
 * const frameworks = assess(readCatalogue(), facts);
 * const risks = risksOf(frameworks);
 * ```
 *
 * An assessment by the platform of itself, and no certificate: what it can't see it counts as missing.
 * @module
 */
export {
  assess,
  type AssessedControl,
  type AssessedFramework,
  type ControlState,
  deriveRisks,
  type ProvingReceipt,
  type Risk,
} from "./assess.ts";
export { type Framework, type FrameworkName, FRAMEWORKS, readCatalogue } from "./catalogue.ts";
export {
  EVIDENCE,
  EVIDENCE_RECEIPT_CATEGORIES,
  type EvidenceName,
  type EvidenceState,
} from "./evidence.ts";
export {
  daysSince,
  type Facts,
  type KnownReceipts,
  receiptsOf,
  type Transport,
  transportOf,
} from "./facts.ts";
export { ALGORITHMS, buildCbom, type CbomParts } from "./cbom.ts";
