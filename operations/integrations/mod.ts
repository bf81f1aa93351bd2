/** Integrations: how they are, and what they hold. @module */
import { integrationStatus, ragHealth, soarHealth } from "./all.ts";
import { auditTrails } from "./audit.ts";
import { policyDecisions } from "./policy.ts";
import { ragCollections, ragQuery } from "./rag.ts";
import { soarTrigger, soarWorkflows } from "./soar.ts";

/** Operations of this folder. */
export const integrationOperations = [
  integrationStatus,
  policyDecisions,
  soarWorkflows,
  soarTrigger,
  soarHealth,
  ragCollections,
  ragQuery,
  ragHealth,
  auditTrails,
];
