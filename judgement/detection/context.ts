import type { Config } from "../../config.ts";
import { settingsFilePath } from "../../integrations/files/mod.ts";
import type { DetectionContext } from "./detector.ts";
import { getDetectorSettings } from "./settings.ts";

/** Returns the path of the file that configures the detectors. */
export function detectorsFilePath(config: Config): string {
  return settingsFilePath(config, "detectors");
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
