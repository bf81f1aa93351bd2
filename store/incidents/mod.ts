/**
 * Findings, tickets, and the effects of repairs.
 *
 * ```ts
 * await db.transaction(async (trx) => {
 *   if (await openTicket(trx, ticket)) await addTicketEvent(trx, ticket.id, { key: "opened", kind: "opened" });
 * });
 * ```
 * @module
 */
export {
  endSilence,
  getSilence,
  intendLift,
  intendSilence,
  listOwnSilences,
  pruneSilences,
  type SilenceRecord,
} from "./alert_silences.ts";
export {
  deleteLogPlaces,
  getLogPlace,
  getProbeHistories,
  type NewProbeHistory,
  type ProbeHistory,
  putLogPlace,
  putProbeHistories,
} from "./detector_memory.ts";
export {
  abandonEffects,
  type EffectRecord,
  endEffect,
  findNeededEffects,
  getEffect,
  intendEffect,
  listEffectsOfAction,
} from "./effects.ts";
export {
  clearFinding,
  clearOtherFindings,
  type FindingRecord,
  getClearedMs,
  getFinding,
  getFindings,
  listDetectorRuns,
  listFindingsOfDependencies,
  listOpenFindings,
  type NewFinding,
  pruneFindings,
  putFindingAlerts,
  recordDetectorRun,
  recordFindings,
  setFindingRoots,
} from "./findings.ts";
export { describeEscalation, describeNextStep } from "./_ticket_messages.ts";
export { type FaultCase, listFaultCases, setProblem } from "./recurrence.ts";
export { addObservations, addStepObservation, listObservations } from "./observations.ts";
export { getRepairFigures, getRepairHistory, listRepairsOfTicket, type Repair } from "./repairs.ts";
export {
  acknowledgeTicket,
  getTaker,
  getTicketFault,
  handBackTicket,
  takeTicket,
} from "./ticket_people.ts";
export { type DecisionBasis, listUndoneDecisions, readDecisionBasis } from "./decision_basis.ts";
export {
  countRepeatSightings,
  escalateTicketOfRun,
  findTicketOfRun,
  getFaultHistory,
  getRepeatSightings,
  listEscalatedFaults,
  listRecovered,
  lockOpenTicket,
  type RecoveredTicket,
  returnTicketToRun,
  takeOverTicket,
} from "./ticket_runs.ts";
export {
  addTicketEvent,
  addTicketEvents,
  escalateTicket,
  type NewTicket,
  openTicket,
  replaceTicketReceipt,
  resolveTicket,
  type TicketEvent,
} from "./ticket_writes.ts";
export {
  getNewestTicketChange,
  getTicket,
  getTicketEvent,
  listCancelledTickets,
  listTicketChanges,
  listTicketEvents,
  listTickets,
  searchTickets,
  type Ticket,
  type TimelineEvent,
} from "./tickets.ts";
export { openUnknownCallTicket, unknownCallTicketId } from "./unknown_calls.ts";
export { getVerdict, putVerdict, type RepairVerdict } from "./verdicts.ts";
