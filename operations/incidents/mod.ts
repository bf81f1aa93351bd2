/** Incidents: faults that are found, the loop that repairs them, their tickets, receipts, figures and prompts. @module */
import { ticketBundle } from "./bundle.ts";
import { closeTicket, createTicket } from "./changes.ts";
import { detectFaults, detectorList } from "./detection.ts";
import { dashboard, repairHistory, resolutionTimes } from "./figures.ts";
import { acknowledgeIncident, handBackIncident, retryIncident, takeIncident } from "./on_call.ts";
import { ticketReceipts } from "./proofs.ts";
import { auditPrompt, postmortemPrompt, triagePrompt } from "./prompts.ts";
import { embedReceipt, ticketVerification } from "./receipts.ts";
import { runLoop, runTest } from "./runs.ts";
import { ticketSearch } from "./search.ts";
import { ticketStory } from "./story.ts";
import {
  incidentDetails,
  openTickets,
  recentIncidents,
  ticket,
  ticketList,
  ticketTimeline,
} from "./tickets.ts";

/** Operations of this folder. */
export const incidentOperations = [
  runLoop,
  runTest,
  detectFaults,
  detectorList,
  ticketList,
  createTicket,
  ticket,
  closeTicket,
  ticketTimeline,
  embedReceipt,
  ticketVerification,
  resolutionTimes,
  repairHistory,
  dashboard,
  openTickets,
  triagePrompt,
  postmortemPrompt,
  auditPrompt,
  recentIncidents,
  incidentDetails,
  acknowledgeIncident,
  takeIncident,
  handBackIncident,
  retryIncident,
  ticketSearch,
  ticketStory,
  ticketReceipts,
  ticketBundle,
];
