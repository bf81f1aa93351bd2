/**
 * Activities of commands for devices: have people decide, issue them, and follow them to their end.
 *
 * ```ts
 * const { issueCommand } = commandActivities(parts);
 * ```
 *
 * @module
 */
export { commandActivities } from "./commands.ts";
export { followCommandActivities } from "./follow.ts";
export { deviceActivities } from "./_devices.ts";
export { discoveryActivities, scanNetworkActivities } from "./discovery.ts";
export { meshActivities } from "./mesh.ts";
export { commandKind } from "./open.ts";
