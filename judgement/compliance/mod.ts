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
export { readAlgorithms } from "./algorithms.ts";
export { type AssessedControl, type AssessedFramework, deriveRisks } from "./assess.ts";
export { type FrameworkName, FRAMEWORKS } from "./catalogue.ts";
export { buildCbom } from "./cbom.ts";
export { EVIDENCE, type EvidenceName } from "./evidence.ts";
export { transportOf } from "./facts.ts";
export { assessPlatform, countControls } from "./platform_assessment.ts";
