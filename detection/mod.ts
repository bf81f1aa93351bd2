/**
 * Five ways to find that something is wrong, and one way to make incidents of what they find.
 *
 * ```ts
 * const world = openWorld({ config, store, temporal });
 * const { incidents } = await detectAll(world, { remember: true });
 * const { present } = await recheck(world, incidents[0], "before") ?? {};
 * ```
 *
 * @module
 */
export type {
  DetailedFinding,
  DetectionContext,
  Detector,
  DetectorResult,
  RecheckResult,
  RecheckTime,
} from "./_detector.ts";
export { type Dependencies, type FindingGroup, type Groupable, groupFindings } from "./group.ts";
export { recheck, type Recheckable } from "./recheck.ts";
export {
  BadDetectorsFile,
  type DetectorSettings,
  detectorsFileSchema,
  readDetectorsFile,
} from "./settings.ts";
export { findLoggedErrors, type LoggedErrors } from "./service_logs.ts";
export {
  describeDetectors,
  detectAll,
  detectInLog,
  type Detection,
  type DetectorDescription,
  type DetectorRun,
  detectorsFilePath,
  openDetectionContext,
} from "./sweep.ts";
export { createServiceFinding, type DetectedFinding } from "./findings.ts";
export { BadServicesFile, readServicesFile, servicesFileSchema } from "./services_file.ts";
export { followServices, keepDiscoveringServices } from "./services.ts";
