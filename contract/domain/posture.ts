/** Results of a check of a device. `unknown` is never a pass. */
export const CHECK_RESULTS = ["pass", "fail", "unknown", "not_applicable"] as const;

/** Result of a check of a device. */
export type CheckResult = typeof CHECK_RESULTS[number];

/** Platforms that the agent runs on. */
export const DEVICE_PLATFORMS = ["linux", "macos"] as const;
