/**
 * Activities of commands for devices: have people decide, issue them, and follow them to their end.
 *
 * ```ts
 * const { issueCommand } = commandActivities(parts);
 * ```
 *
 * @module
 */
export { commandActivities, type CommandApproval, type CommandOrder } from "./commands.ts";
export { endedCommandActivities } from "./ended.ts";
export { type CommandProgress, followCommandActivities } from "./follow.ts";
export { deviceActivities } from "./_devices.ts";
export { discoveryActivities } from "./discovery.ts";
