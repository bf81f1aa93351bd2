/** Contacts, deals, their pipelines and activities. @module */
import { activityList } from "./activities.ts";
import { contactList, createContact, updateContact } from "./contacts.ts";
import { createDeal, dealList, moveDeal, updateDeal } from "./deals.ts";
import { crmDigest } from "./digest.ts";
import { captureLead } from "./lead.ts";
import { pipelineStats } from "./pipeline.ts";

/** Operations of this folder. */
export const crmOperations = [
  contactList,
  createContact,
  updateContact,
  dealList,
  createDeal,
  updateDeal,
  moveDeal,
  pipelineStats,
  activityList,
  crmDigest,
  captureLead,
];
