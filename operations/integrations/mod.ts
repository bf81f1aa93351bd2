/** Integrations: how they are, and what they hold. @module */
import { integrationStatus, ragHealth, soarHealth } from "./all.ts";
import { auditTrails } from "./audit.ts";
import { observabilityHealth, observabilitySummary } from "./observability.ts";
import { policyDecisions } from "./policy.ts";
import { ragCollections, ragQuery } from "./rag.ts";
import { soarTrigger, soarWorkflows } from "./soar.ts";
import { observabilityTrace } from "./trace.ts";

/** Operations of this folder. */
export const integrationOperations = [
  integrationStatus,
  observabilitySummary,
  observabilityHealth,
  observabilityTrace,
  policyDecisions,
  soarWorkflows,
  soarTrigger,
  soarHealth,
  ragCollections,
  ragQuery,
  ragHealth,
  auditTrails,
];
