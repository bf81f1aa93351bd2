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
  type ProvingReceipt,
  type Risk,
  risksOf,
} from "./assess.ts";
export { type Framework, type FrameworkName, FRAMEWORKS, readCatalogue } from "./catalogue.ts";
export { EVIDENCE, type EvidenceName, type EvidenceState, PROVING } from "./evidence.ts";
export {
  daysSince,
  type Facts,
  type KnownReceipts,
  receiptsOf,
  type Transport,
  transportOf,
} from "./facts.ts";
export { ALGORITHMS, cbomOf, type CbomParts } from "./cbom.ts";
