import {
  A2A_SKILL,
  A2A_TASK,
  ANCHOR_BATCH,
  ANCHOR_RECEIPTS,
  APPROVAL,
  ATTACK_SIMULATION,
  CREW,
  GOVERNED_ACT,
  ITSM_LOOP,
  ITSM_SWEEP,
  ITSM_TEST,
  LEDGER_SEQUENCER,
  REASONING,
  RECONCILE_RUNS,
  SCRUB_LEDGER,
  SEAL_REQUEST,
  SECURITY_SCAN,
  WEBHOOK_DELIVERY,
  WEBHOOK_RELAY,
} from "../../workflows/mod.ts";
import { approvalsCreate } from "../approvals/approvals.ts";
import { simulateAttack } from "../security/attacks.ts";
import { triggerScan } from "../security/scans.ts";
import { dispatchCrew } from "../reasoning/crew.ts";
import { reason } from "../reasoning/reasoning.ts";
import { runLoop, runTest } from "../loops/runs.ts";

/** Types of workflows; those that a caller may start, through which operation. */
export const WORKFLOW_TYPES = [
  { type: ITSM_LOOP, about: "One incident, from finding to sealed receipt", operation: runLoop },
  { type: ITSM_TEST, about: "A test incident on a small real service", operation: runTest },
  {
    type: ATTACK_SIMULATION,
    about: "A practice attack on a sandbox",
    operation: simulateAttack,
  },
  { type: APPROVAL, about: "Waits for people to approve one action", operation: approvalsCreate },
  { type: GOVERNED_ACT, about: "Runs one call that people have approved", operation: null },
  { type: REASONING, about: "Answers a question from what the platform knows", operation: reason },
  { type: CREW, about: "Six agents diagnose one incident", operation: dispatchCrew },
  { type: A2A_TASK, about: "A conversation with an agent", operation: null },
  { type: A2A_SKILL, about: "A call of a tool by an agent, as a task", operation: null },
  { type: ITSM_SWEEP, about: "Looks with every detector", operation: null },
  { type: RECONCILE_RUNS, about: "Seals runs that were ended from outside", operation: null },
  { type: SECURITY_SCAN, about: "Looks for weaknesses", operation: triggerScan },
  { type: SEAL_REQUEST, about: "Seals what a caller asked for", operation: null },
  { type: WEBHOOK_DELIVERY, about: "Tells one webhook one piece of news", operation: null },
  { type: WEBHOOK_RELAY, about: "Starts what is queued for webhooks", operation: null },
  {
    type: LEDGER_SEQUENCER,
    about: "Keeps the one sequencer of the ledger running",
    operation: null,
  },
  { type: SCRUB_LEDGER, about: "Verifies the whole ledger from its stored bytes", operation: null },
  {
    type: ANCHOR_RECEIPTS,
    about: "Takes new receipts to be timestamped in Bitcoin",
    operation: null,
  },
  { type: ANCHOR_BATCH, about: "Waits for the block of one batch of receipts", operation: null },
] as const;
