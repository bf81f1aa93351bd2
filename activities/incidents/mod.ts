/**
 * Activities of the incident loop: open the ticket, diagnose, repair at most once, undo, close and seal.
 *
 * ```ts
 * const { remediate } = remediateActivities(parts);
 * const { permission, effect } = await remediate(request);
 * ```
 *
 * @module
 */
export { repairEffectOf } from "./_effects.ts";
export type { RepairOrder, RepairRequest, RoundOrder } from "./_order.ts";
export { liftKind, silenceKind } from "./_silence.ts";
export { bringBackServices, type ReturnedService } from "./bring_back.ts";
export { findSubject } from "./_subject.ts";
export { closeActivities } from "./close.ts";
export { diagnoseActivities } from "./diagnose.ts";
export { holdActivities } from "./holds.ts";
export { observeActivities } from "./observe.ts";
export { ticketKind } from "./open.ts";
export { changeActivities } from "./outdated.ts";
export { probeActivities } from "./probe.ts";
export { remediateActivities } from "./remediate.ts";
export { sweepActivities } from "./sweep.ts";
export { ticketActivities } from "./ticket.ts";
export { undoActivities } from "./undo.ts";
