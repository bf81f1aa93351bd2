/**
 * Detection: five detectors find faults, and grouping makes incidents of their findings. Also the platform's own status.
 *
 * ```ts
 * const context = openDetectionContext({ config, store, temporal });
 * const { incidents } = await detectAll(context, { save: true });
 * const { present } = await recheck(context, incidents[0], "before") ?? {};
 * ```
 *
 * Trusts: the operator who writes the files of detectors and services.
 * Doesn't trust: the lines of logs, which attackers write, too.
 * @module
 */
export { readLogErrors, readLogLines, watchLogLines } from "./_log_parsers.ts";
export { findSilenceableAlerts } from "./alert_recheck.ts";
export { type Dependencies, type Groupable, isAttack } from "./_causes.ts";
export { detectorsFilePath, openDetectionContext } from "./context.ts";
export { isUnusual, measureDeviation } from "./_deviation.ts";
export type { DetailedFinding, DetectionContext, RecheckResult } from "./detector.ts";
export type { DeviceRemedy } from "./_device_aspects.ts";
export { isDeviceFault } from "./device_faults.ts";
export { levelOf } from "./_log_lines.ts";
export { timeOf } from "./_log_time.ts";
export { createServiceFinding, type DetectedFinding } from "./findings.ts";
export { groupFindings } from "./group.ts";
export { joinIncidents } from "./join.ts";
export {
  BACKENDS,
  getPlatformStatus,
  probeBackend,
  probePlatform,
  type StatusParts,
  UNREACHABLE,
} from "./platform_status.ts";
export {
  decidingReading,
  type FailingDependency,
  findFailingDependencies,
  judgeFault,
  type Judgement,
  type MeasuredFault,
} from "./judgement.ts";
export { recheck } from "./recheck.ts";
export { checkReportedService, createReportedFinding } from "./reported.ts";
export { measureDisk } from "./_disks.ts";
export { readCertificate } from "./_tls.ts";
export { findLoggedErrors, findNewLines, listServiceLogs } from "./service_logs.ts";
export {
  checkServicesFile,
  type FollowedServices,
  followServices,
  keepDiscoveringServices,
} from "./services.ts";
export { BadServicesFile, readServicesFile, servicesFileSchema } from "./services_file.ts";
export { BadDetectorsFile, detectorsFileSchema, readDetectorsFile } from "./settings.ts";
export { describeDetectors, detectAll, detectInLog } from "./sweep.ts";
export { findTemplate, learnLines, openMiner, saveMiner } from "./_log_templates.ts";
