/** Tickets, their receipts, figures and prompts. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { dashboard, mttr, remediations } from "./figures.ts";
import { incidentTimeline, openIncidents } from "./incidents.ts";
import { auditPrompt, postmortemPrompt, triagePrompt } from "./prompts.ts";
import { embedReceipt, verifyTicket } from "./receipts.ts";
import { incidentDetails, recentIncidents } from "./recent.ts";
import { closeTicket, createTicket, readTicket, ticketList } from "./tickets.ts";

/** Operations of this folder. */
export const ticketOperations: readonly Operation<Platform>[] = [
  ticketList,
  createTicket,
  readTicket,
  closeTicket,
  incidentTimeline,
  embedReceipt,
  verifyTicket,
  mttr,
  remediations,
  dashboard,
  openIncidents,
  triagePrompt,
  postmortemPrompt,
  auditPrompt,
  recentIncidents,
  incidentDetails,
];
