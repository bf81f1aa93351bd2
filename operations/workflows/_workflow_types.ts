import { WORKFLOW } from "../../domain/mod.ts";
import { approvalsCreate } from "../approvals/approvals.ts";
import { simulateAttack } from "../security/attacks.ts";
import { triggerScan } from "../security/scans.ts";
import { dispatchCrew } from "../reasoning/crew.ts";
import { reason } from "../reasoning/reasoning.ts";
import { runLoop, runTest } from "../loops/runs.ts";

/** Types of workflows; those that a caller may start, through which operation. */
export const WORKFLOW_TYPES = [
  {
    type: WORKFLOW.itsmLoop,
    about: "One incident, from finding to sealed receipt",
    operation: runLoop,
  },
  { type: WORKFLOW.itsmTest, about: "A test incident on a small real service", operation: runTest },
  {
    type: WORKFLOW.attackSimulation,
    about: "A practice attack on a sandbox",
    operation: simulateAttack,
  },
  {
    type: WORKFLOW.approval,
    about: "Waits for people to approve one action",
    operation: approvalsCreate,
  },
  { type: WORKFLOW.governedAct, about: "Runs one call that people have approved", operation: null },
  {
    type: WORKFLOW.reasoning,
    about: "Answers a question from what the platform knows",
    operation: reason,
  },
  { type: WORKFLOW.crew, about: "Six agents diagnose one incident", operation: dispatchCrew },
  { type: WORKFLOW.a2aTask, about: "A conversation with an agent", operation: null },
  { type: WORKFLOW.a2aSkill, about: "A call of a tool by an agent, as a task", operation: null },
  { type: WORKFLOW.itsmSweep, about: "Looks with every detector", operation: null },
  {
    type: WORKFLOW.reconcileRuns,
    about: "Seals runs that were ended from outside",
    operation: null,
  },
  { type: WORKFLOW.securityScan, about: "Looks for weaknesses", operation: triggerScan },
  { type: WORKFLOW.sealRequest, about: "Seals what a caller asked for", operation: null },
  { type: WORKFLOW.webhookDelivery, about: "Tells one webhook one piece of news", operation: null },
  { type: WORKFLOW.webhookRelay, about: "Starts what is queued for webhooks", operation: null },
  {
    type: WORKFLOW.ledgerSequencer,
    about: "Keeps the one sequencer of the ledger running",
    operation: null,
  },
  {
    type: WORKFLOW.scrubLedger,
    about: "Verifies the whole ledger from its stored bytes",
    operation: null,
  },
  {
    type: WORKFLOW.anchorReceipts,
    about: "Takes new receipts to be timestamped in Bitcoin",
    operation: null,
  },
  {
    type: WORKFLOW.anchorBatch,
    about: "Waits for the block of one batch of receipts",
    operation: null,
  },
] as const;
