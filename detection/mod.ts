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
export type { Detector, Found, Look, Moment, Rechecked, World } from "./_detector.ts";
export { type Dependencies, type Group, type Groupable, groupFindings } from "./group.ts";
export { recheck, type Recheckable } from "./recheck.ts";
export {
  BadDetectorsFile,
  type DetectorSettings,
  detectorsFileSchema,
  readDetectorsFile,
} from "./settings.ts";
export { errorsLogged, type LoggedErrors } from "./service_logs.ts";
export {
  type DescribedDetector,
  describeDetectors,
  detectAll,
  detectInLog,
  type Detection,
  type DetectorRun,
  detectorsPath,
  openWorld,
} from "./sweep.ts";
export { type DetectedFinding, findingOf } from "./findings.ts";
export { BadServicesFile, readServicesFile, servicesFileSchema } from "./services_file.ts";
export { followServices, keepDiscovering } from "./services.ts";
