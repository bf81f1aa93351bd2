/**
 * Activities of the crew: six agents that examine an incident. All of them only read.
 *
 * ```ts
 * const { triageIncident, inspectLogs } = crewActivities(parts);
 * const { services } = await triageIncident({ incident: "The shop answers with errors" });
 * ```
 *
 * @module
 */
export { crewActivities } from "./crew.ts";
export { diagnosisDraftActivities } from "./drafts.ts";
