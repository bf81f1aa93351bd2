/** Tickets, their receipts, figures and prompts. @module */
import { closeTicket, createTicket } from "./changes.ts";
import { dashboard, repairHistory, resolutionTimes } from "./figures.ts";
import { auditPrompt, postmortemPrompt, triagePrompt } from "./prompts.ts";
import { embedReceipt, ticketVerification } from "./receipts.ts";
import {
  incidentDetails,
  openTickets,
  recentIncidents,
  ticket,
  ticketList,
  ticketTimeline,
} from "./tickets.ts";

/** Operations of this folder. */
export const ticketOperations = [
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
];
