import type { QueryDefinition, SignalDefinition, UpdateDefinition } from "@temporalio/common";
import type { ApprovalState, VoteRef } from "./approvals.ts";
import type { AgentReport } from "./crew.ts";
import type { Progress, RunId } from "./incidents.ts";
import type { MediaProgress } from "./media.ts";
import type { NodeRecord } from "./reasoning.ts";
import type { TaskMessage, TaskRecord } from "./tasks.ts";

/** Task queues of `temporal.yaml`. */
export const TASK_QUEUE = {
  itsm: "itsm",
  ledger: "ledger",
  /** Template of the queues of places: what touches a machine. {@linkcode placeQueue} names each. */
  act: "act",
  /** Template, too: work of programs that take a processor for themselves. */
  media: "media",
  /** Taken by the sequencer's process alone, as the key that signs receipts is there. */
  sequencer: "sequencer",
} as const;

/** Names of the workflow types, as clients start them. */
export const WORKFLOW = {
  a2aSkill: "a2aSkill",
  a2aTask: "a2aTask",
  anchorBatch: "anchorBatch",
  anchorReceipts: "anchorReceipts",
  approval: "approval",
  attackSimulation: "attackSimulation",
  conversation: "conversation",
  crew: "crew",
  crmSequence: "crmSequence",
  deviceDiscovery: "deviceDiscovery",
  deviceCommand: "deviceCommand",
  emailReply: "emailReply",
  governedAct: "governedAct",
  itsmLoop: "itsmLoop",
  itsmSweep: "itsmSweep",
  itsmTest: "itsmTest",
  ledgerSequencer: "ledgerSequencer",
  notice: "notice",
  outsideAct: "outsideAct",
  peerMessage: "peerMessage",
  publish: "publish",
  mailbox: "mailbox",
  reasoning: "reasoning",
  reconcileRuns: "reconcileRuns",
  relay: "relay",
  routine: "routine",
  scrubLedger: "scrubLedger",
  speech: "speech",
  securityScan: "securityScan",
  sendEmail: "sendEmail",
  seo: "seo",
  seoDeploy: "seoDeploy",
  tellDue: "tellDue",
  tenantSync: "tenantSync",
  transcription: "transcription",
  video: "video",
  webhookDelivery: "webhookDelivery",
} as const;

/** Name of a workflow type. */
export type WorkflowName = keyof typeof WORKFLOW;

/** Purpose of each workflow type, for people. */
export const WORKFLOW_PURPOSE: Readonly<Record<WorkflowName, string>> = {
  itsmLoop: "One incident, from finding to sealed receipt",
  itsmTest: "A test incident on a small real service",
  attackSimulation: "A practice attack on a sandbox",
  approval: "Waits for people to decide about one action",
  governedAct: "Runs one call that people have approved",
  reasoning: "Answers a question from what the platform knows",
  crew: "Six agents diagnose one incident",
  conversation: "A conversation of one caller with one agent of the platform",
  peerMessage: "One message to an agent of another organization, and its reply",
  a2aTask: "A conversation that another agent has over A2A",
  a2aSkill: "A call of a tool by an agent, as a task",
  itsmSweep: "Looks with every detector",
  reconcileRuns: "Seals runs that were ended from outside",
  securityScan: "Looks for weaknesses",
  deviceDiscovery: "Looks for hosts in a network",
  sendEmail: "Sends one mail, once",
  outsideAct: "Does one act in a system of the operator's, once",
  seo: "Writes one article, has a person decide, and publishes it",
  seoDeploy: "Deploys one article once more",
  publish: "Has people decide about one item of the pipeline, and publishes it",
  deviceCommand: "Has one command run on a device, once",
  speech: "Speaks one text, or one post",
  transcription: "Writes down what is said in one recording",
  video: "Makes one film, scene by scene",
  crmSequence: "Sends a contact a sequence of mails",
  mailbox: "Reads the mailbox to which replies come",
  emailReply: "Drafts an answer to a received mail",
  webhookDelivery: "Delivers one message to one webhook",
  relay: "Starts the deliveries that are queued for webhooks and people",
  notice: "Tells people of one message over their channels",
  tellDue: "Tells people of what is due, seals heartbeats, and has ways between devices measured",
  routine: "Sweeps, seals what ended from outside, or tells what is due, again and again",
  tenantSync: "Registers organizations at the identity provider",
  ledgerSequencer: "Keeps the one sequencer of the ledger running",
  scrubLedger: "Verifies the whole ledger from its stored bytes",
  anchorReceipts: "Takes new receipts to be timestamped in Bitcoin",
  anchorBatch: "Waits for the block of one batch of receipts",
};

/** Returns how far a loop is. */
export const progressQuery = query<Progress>("progress");
/** Returns what the agents of a crew have reported so far. */
export const reportsQuery = query<readonly AgentReport[]>("reports");
/** Returns how far a run of media is. */
export const mediaProgressQuery = query<MediaProgress>("mediaProgress");
/** Returns the nodes that a reasoning run has passed. */
export const nodesQuery = query<readonly NodeRecord[]>("nodes");
/** Returns how an approval stands. */
export const approvalQuery = query<ApprovalState>("approval");

/** Approves exactly the action that was asked for. The vote is in the database; the update carries its id. */
export const approveUpdate = update<ApprovalState, [VoteRef]>("approve");
/** Denies it. One denial is enough. */
export const denyUpdate = update<ApprovalState, [VoteRef]>("deny");
/** Asks again what was denied or has expired; everyone who approved is asked again. */
export const reopenUpdate = update<ApprovalState, [VoteRef]>("reopen");
/** Tells an approval to look whether what people were asked about has changed since. */
export const recheckSignal = signal("recheck");
/** Adds a message to an A2A task; returns the task as it is then. */
export const sayUpdate = update<TaskRecord, [TaskMessage]>("say");
/** Ends an open A2A task; returns the task as it ended. */
export const cancelUpdate = update<TaskRecord>("cancel");

/** Tells a conversation that it has a new question; returns the run that answers it. */
export const askUpdate = update<RunId, [{ readonly question_id: string }]>("ask");

/** Tells an A2A task that the state of its call has changed. */
export const callChangedSignal = signal("callChanged");

/** Tells the workflow of a command that its device has stated something. */
export const commandChangedSignal = signal("commandChanged");

/** Has a routine do its work now, or once more as soon as it has ended what it is at. */
export const nowSignal = signal("now");
/** Tells a routine its interval, seconds. */
export const everySignal = signal<[number]>("every");

// The same values as defineQuery and its siblings return, without loading the workflow SDK into every client.
function query<Result>(name: string): QueryDefinition<Result> {
  return { type: "query", name } as QueryDefinition<Result>;
}

function update<Result, Args extends unknown[] = []>(name: string): UpdateDefinition<Result, Args> {
  return { type: "update", name } as UpdateDefinition<Result, Args>;
}

function signal<Args extends unknown[] = []>(name: string): SignalDefinition<Args> {
  return { type: "signal", name } as SignalDefinition<Args>;
}
