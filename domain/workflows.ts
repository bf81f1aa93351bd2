import type { QueryDefinition, SignalDefinition, UpdateDefinition } from "@temporalio/common";
import type { ApprovalState, Voice } from "./approvals.ts";
import type { AgentReport } from "./crew.ts";
import type { Progress } from "./incidents.ts";
import type { NodeRecord } from "./reasoning.ts";
import type { TaskMessage, TaskRecord } from "./tasks.ts";

/** Task queues of `temporal.yaml`. */
export const TASK_QUEUE = { itsm: "itsm", ledger: "ledger" } as const;

/** Names of the workflow types, as clients start them. */
export const WORKFLOW = {
  a2aSkill: "a2aSkill",
  a2aTask: "a2aTask",
  anchorBatch: "anchorBatch",
  anchorReceipts: "anchorReceipts",
  approval: "approval",
  attackSimulation: "attackSimulation",
  crew: "crew",
  governedAct: "governedAct",
  itsmLoop: "itsmLoop",
  itsmSweep: "itsmSweep",
  itsmTest: "itsmTest",
  ledgerSequencer: "ledgerSequencer",
  reasoning: "reasoning",
  reconcileRuns: "reconcileRuns",
  scrubLedger: "scrubLedger",
  sealRequest: "sealRequest",
  securityScan: "securityScan",
  webhookDelivery: "webhookDelivery",
  webhookRelay: "webhookRelay",
} as const;

/** Returns how far a loop is. */
export const progressQuery = query<Progress>("progress");
/** Returns what the agents of a crew have reported so far. */
export const reportsQuery = query<readonly AgentReport[]>("reports");
/** Returns the nodes that a reasoning run has passed. */
export const nodesQuery = query<readonly NodeRecord[]>("nodes");
/** Returns how an approval stands. */
export const approvalQuery = query<ApprovalState>("approval");

/** Approves exactly the action that was asked for. The vote is in the database; the update carries its id. */
export const approveUpdate = update<ApprovalState, [Voice]>("approve");
/** Denies it. One denial is enough. */
export const denyUpdate = update<ApprovalState, [Voice]>("deny");
/** Asks again what was denied or has expired; everyone who approved is asked again. */
export const reopenUpdate = update<ApprovalState, [Voice]>("reopen");
/** Adds a message to an A2A task; returns the task as it is then. */
export const sayUpdate = update<TaskRecord, [TaskMessage]>("say");
/** Ends an open A2A task; returns the task as it ended. */
export const cancelUpdate = update<TaskRecord>("cancel");

/** Tells an A2A task that the state of its call has changed. */
export const ruledSignal = signal("ruled");

// The same values as defineQuery and its siblings return, without loading the workflow SDK into every client.
function query<Result>(name: string): QueryDefinition<Result> {
  return { type: "query", name } as QueryDefinition<Result>;
}

function update<Result, Args extends unknown[] = []>(name: string): UpdateDefinition<Result, Args> {
  return { type: "update", name } as UpdateDefinition<Result, Args>;
}

function signal(name: string): SignalDefinition {
  return { type: "signal", name } as SignalDefinition;
}
