import { join } from "node:path";
import type { Config } from "../../config.ts";
import type { DetectionContext } from "./detector.ts";
import { getDetectorSettings } from "./settings.ts";

/** Returns the path of the file that configures the detectors. */
export function detectorsFilePath({ settings, dataDir }: Config): string {
  return settings.SEALOOP_DETECTORS ?? join(dataDir, "sealoop.detectors.yaml");
}

/**
 * Opens the surroundings of the detectors, with the settings that the file has now. While it is wrong, those that it had
 * before stay in force, or else the defaults.
 */
export function openDetectionContext(
  { config, store, temporal, alerts, places }: Pick<
    DetectionContext,
    "config" | "store" | "temporal" | "alerts" | "places"
  >,
): DetectionContext {
  const { settings, problem } = getDetectorSettings(detectorsFilePath(config));
  return {
    config,
    store,
    temporal,
    alerts: settings.alerts.enabled ? alerts : undefined,
    settings,
    settingsProblem: problem,
    places,
    host: config.place,
  };
}
