/**
 * Activities: everything that workflows do to the world. Each one's comment says what makes it safe to repeat.
 *
 * ```ts
 * const activities = createActivities({ ...platform, runbooks, stopping });
 * await Worker.create({ activities, … });
 * ```
 *
 * @module
 */
export type { ScrubPass, ScrubResult } from "../ledger/mod.ts";
export {
  type Activities,
  createActivities,
  createSequencerActivities,
  type MediaActivities,
  type PlaceActivities,
  type TenantActivities,
} from "./activities.ts";
export { bringBackServices, type ReturnedService } from "./incidents/mod.ts";
export { describeKeys } from "./ledger/mod.ts";
export type { RepairOrder, RepairRequest, RoundOrder } from "./incidents/mod.ts";
export type { ActivityParts } from "./parts.ts";
export { enrolPlace } from "./place_key.ts";
export { STOPPABLE_NAMES } from "./governance.ts";
export { tenantsKind } from "./tenants.ts";
