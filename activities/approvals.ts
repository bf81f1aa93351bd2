import { WorkflowNotFoundError } from "@temporalio/client";
import {
  type ApprovalRequest,
  type ApprovalTerms,
  type AskingRun,
  type RunId,
  TASK_QUEUE,
  WORKFLOW,
} from "../domain/mod.ts";
import {
  addApprovalMove,
  addTicketEvent,
  getApproval,
  getTicket,
  getPrincipal,
  putApproval,
  type Db,
  setResumedRun,
  } from "../store/mod.ts";
import { Problem } from "../contract/mod.ts";
import { requestSeal } from "../ledger/mod.ts";
import { type ActivityParts, ACTOR, receiptIdOf } from "./_parts.ts";

/** A request, with the run of its workflow. */
export interface ApprovalOpening extends ApprovalRequest {
  readonly run: RunId;
}

/** A loop that may have ended before its action was approved. */
export interface Resumption {
  readonly approval_id: string;
  readonly action_sha256: string;
  readonly asking_run: AskingRun;
  /** Of the approval. */
  readonly receipt_id: string;
}

/** What approvals write down, and what follows from them. */
export function approvals({ store, config, temporal }: ActivityParts) {
  /** Shows what is asked for, tells the ticket, and asks for the receipt. Safe to repeat: the approval's id names all. */
  async function openApproval(
    opening: ApprovalOpening,
  ): Promise<{ terms: ApprovalTerms; requested_by: string; receipt_id: string }> {
    const { approval_id, ticket_id, action_sha256, run } = opening;
    const receiptId = receiptIdOf(run, "approval-1");
    return await store.asPlatform().transaction(async (trx) => {
      await putApproval(trx, await newApproval(trx, opening, termsOf(opening)));
      const known = (await getApproval(trx, approval_id))!;
      if (known.actionSha256 !== action_sha256) {
        throw new Problem("Conflict", `Approval ${approval_id} is about another action`);
      }
      const terms = {
        needed: known.needed,
        expires_in_seconds: known.expiresInSeconds,
        escalate_after_seconds: known.escalateAfterSeconds,
      };
      const actor = known.requestedByKey ? `key:${known.requestedByKey}` : ACTOR;
      const move = { number: 1, move: "requested", status: "pending", approvers: [] } as const;
      if (!await addApprovalMove(trx, approval_id, { ...move, receiptId })) {
        return { terms, requested_by: known.requestedBy, receipt_id: receiptId };
      }
      if (ticket_id) await tellTicket(trx, ticket_id, approval_id, 1, "requested", receiptId);
      await requestSeal(trx, {
        id: receiptId,
        category: "approval",
        actor,
        subject: approval_id,
        action: "approval.requested",
        outcome: "pending",
        details: {
          approval_id,
          action_sha256,
          needed: terms.needed,
          expires_in_seconds: terms.expires_in_seconds,
          ...(ticket_id ? { ticket_id } : {}),
          ...run,
        },
        evidence: {
          action: known.action,
          requested_by: known.requestedBy,
          description: known.description,
        },
      });
      return { terms, requested_by: known.requestedBy, receipt_id: receiptId };
    });
  }

  function termsOf(given: Partial<ApprovalTerms>): ApprovalTerms {
    const {
      SEALOOP_APPROVERS,
      SEALOOP_APPROVAL_EXPIRES_SECONDS,
      SEALOOP_APPROVAL_ESCALATE_SECONDS,
    } = config.settings;
    return {
      needed: Math.max(given.needed ?? 1, SEALOOP_APPROVERS), // the gateway has kept its own; this comes by Temporal
      expires_in_seconds: given.expires_in_seconds ?? SEALOOP_APPROVAL_EXPIRES_SECONDS,
      escalate_after_seconds: given.escalate_after_seconds ?? SEALOOP_APPROVAL_ESCALATE_SECONDS,
    };
  }

  /**
   * Starts the loop anew where the run that asked has ended meanwhile; the new run takes over the ticket and cites the
   * sealed receipt. A run that still waits goes on by itself. Safe to repeat: a loop has one run at a time.
   */
  async function resumeAfterApproval(resumption: Resumption): Promise<RunId | null> {
    const { approval_id, action_sha256, asking_run: { workflow_id, run_id, finding } } = resumption;
    const known = await getApproval(store.asPlatform(), approval_id);
    if (known?.resumedRun) return known.resumedRun;
    if (await isRunning(workflow_id, run_id)) return null;
    const ticket = known?.ticketId ? await getTicket(store.asPlatform(), known.ticketId) : undefined;
    if (ticket?.status === "resolved") return null; // somebody has done it by hand
    const resumes = { approval_id, action_sha256, receipt_id: ticket?.receipt_id ?? null };
    const handle = await temporal.workflow.start(WORKFLOW.itsmLoop, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: workflow_id,
      workflowIdConflictPolicy: "USE_EXISTING",
      args: [{ ...finding, resumes }],
      staticSummary: `Goes on after ${approval_id}`,
    });
    const run = { workflow_id, run_id: handle.firstExecutionRunId };
    await setResumedRun(store.asPlatform(), approval_id, run);
    return run;
  }

  async function isRunning(workflowId: string, runId: string): Promise<boolean> {
    try {
      const run = await temporal.workflow.getHandle(workflowId, runId).describe();
      return run.status.name === "RUNNING";
    } catch (error) {
      if (error instanceof WorkflowNotFoundError) return false;
      throw error;
    }
  }

  return { openApproval, resumeAfterApproval };
}

/** Tells a ticket of a move. */
export async function tellTicket(
  on: Db,
  ticketId: string,
  approval_id: string,
  number: number,
  move: string,
  receipt_id: string,
): Promise<void> {
  await addTicketEvent(on, ticketId, {
    key: `${approval_id}/${number}`,
    kind: `approval_${move}`,
    data: { approval_id, receipt_id },
  });
}

async function newApproval(on: Db, opening: ApprovalOpening, terms: ApprovalTerms) {
  const keyId = /^key:([0-9a-f]{16})$/.exec(opening.requested_by)?.[1];
  const holder = keyId && await getPrincipal(on, keyId);
  return {
    id: opening.approval_id,
    subject: opening.subject,
    ticketId: opening.ticket_id ?? null,
    description: sentenceOf(opening.action),
    action: opening.action ?? {},
    actionSha256: opening.action_sha256,
    requestedBy: holder ?? opening.requested_by,
    requestedByKey: keyId ?? null,
    needed: terms.needed,
    expiresInSeconds: terms.expires_in_seconds,
    escalateAfterSeconds: terms.escalate_after_seconds,
    askingRun: opening.asking_run ? { ...opening.asking_run } : null,
  };
}

/** A loop's action in words: what is to be done, and why somebody is asked. Programs say it themselves. */
function sentenceOf(action: ApprovalOpening["action"] = {}): string {
  const { runbook, version, service, exceeds } = action;
  if (typeof runbook !== "string") return "";
  const why = Array.isArray(exceeds) && exceeds.length > 0 ? `; ${exceeds.join("; ")}` : "";
  return `Runbook ${runbook} ${version} for ${service}${why}`;
}
