import { Problem } from "../../contract/mod.ts";
import {
  type ApprovalRequest,
  type ApprovalTerms,
  LOOP_ACTOR,
  type RunId,
} from "../../contract/domain/mod.ts";
import { canonicalize, requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import {
  addApprovalMove,
  type ApprovalMove,
  type ApprovalRecord,
  getApproval,
  putApproval,
} from "../../store/approvals/mod.ts";
import { getPrincipal } from "../../store/keys/mod.ts";
import type { Platform } from "../platform.ts";
import { receiptIdOf } from "../receipt_ids.ts";
import { bindAction } from "./action.ts";
import { groundsOfRepair } from "./grounds.ts";
import { webUiNotice } from "./notice.ts";
import { requireSame } from "./question.ts";
import { tellPeople, tellTicket } from "./tell.ts";
import { voterOf } from "./voter.ts";

/** A request to people, with the run of its workflow. */
export interface ApprovalOpening extends ApprovalRequest {
  readonly run: RunId;
}

/** The first move of an approval. */
export interface OpenedApproval {
  readonly terms: ApprovalTerms;
  readonly requested_by: string;
  readonly receipt_id: string;
  /** Lines that Temporal's Web UI shows of it, in Markdown. */
  readonly notice: string;
}

/** Makes the first move: stores what is asked for, tells the ticket, requests the receipt. Safe to repeat. */
export async function recordOpening(
  { store, config }: Pick<Platform, "store" | "config">,
  opening: ApprovalOpening,
): Promise<OpenedApproval> {
  const { approval_id, ticket_id, action_sha256, run } = opening;
  const receipt_id = receiptIdOf(run, "approval-1");
  return await store.db.transaction(async (trx) => {
    if (opening.action) await putOwnQuestion(trx, config, opening);
    const approval = await getApproval(trx, approval_id);
    if (approval?.actionSha256 !== action_sha256) {
      throw new Problem("Conflict", `Approval ${approval_id} is about another action`);
    }
    const terms = {
      needed: approval.needed,
      expires_in_seconds: approval.expiresInSeconds,
      escalate_after_seconds: approval.escalateAfterSeconds,
    };
    const notice = webUiNotice(approval);
    const opened = { terms, requested_by: approval.requestedBy, receipt_id, notice };
    const asked: ApprovalMove = {
      number: 1,
      move: "requested",
      status: "pending",
      approvers: [],
      receiptId: receipt_id,
    };
    const isNew = await addApprovalMove(trx, approval_id, asked);
    if (!isNew) return opened;
    await tellPeople(trx, approval, { move: "requested" });
    if (ticket_id) await tellTicket(trx, ticket_id, approval_id, asked);
    await requestSeal(trx, {
      id: receipt_id,
      category: "approval",
      actor: await askerOf(trx, approval),
      subject: approval_id,
      action: "approval.requested",
      outcome: "pending",
      details: {
        approval_id,
        action_commitment: approval.actionCommitment,
        needed: terms.needed,
        ...(approval.grounds.passkey ? { passkey: true } : {}),
        expires_in_seconds: terms.expires_in_seconds,
        ...(ticket_id ? { ticket_id } : {}),
        ...run,
      },
      evidence: {
        action: approval.action,
        requested_by: approval.requestedBy,
        description: approval.description,
        grounds: approval.grounds,
        ...(approval.insteadOf ? { instead_of: approval.insteadOf } : {}),
      },
    });
    return opened;
  });
}

/** Returns how the receipt names who asks. Whoever offers something instead has decided, which nothing public links. */
async function askerOf(
  trx: Db,
  { id, insteadOf, requestedBy, requestedByKey }: ApprovalRecord,
): Promise<string> {
  if (insteadOf) return await voterOf(trx, id, requestedBy);
  return requestedByKey ? `key:${requestedByKey}` : LOOP_ACTOR;
}

/** Stores what a loop asks. @throws {Problem} `Conflict`: somebody has asked something else by its id */
async function putOwnQuestion(
  trx: Db,
  config: Platform["config"],
  opening: ApprovalOpening,
): Promise<void> {
  const asked = await newApproval(trx, opening, termsOf(config, opening));
  await putApproval(trx, asked);
  requireSame((await getApproval(trx, opening.approval_id))!, asked);
}

/** A request that comes from a workflow can't ask for fewer people than the settings want. */
function termsOf(
  { settings }: Platform["config"],
  { needed, expires_in_seconds, escalate_after_seconds }: Partial<ApprovalTerms>,
): ApprovalTerms {
  return {
    needed: Math.max(needed ?? 1, settings.SEALOOP_APPROVERS),
    expires_in_seconds: expires_in_seconds ?? settings.SEALOOP_APPROVAL_EXPIRES_SECONDS,
    escalate_after_seconds: escalate_after_seconds ?? settings.SEALOOP_APPROVAL_ESCALATE_SECONDS,
  };
}

async function newApproval(trx: Db, opening: ApprovalOpening, terms: ApprovalTerms) {
  const keyId = /^key:([0-9a-f]{16})$/.exec(opening.requested_by)?.[1];
  const holder = keyId && await getPrincipal(trx, keyId);
  const { approval_id: approvalId, ticket_id: ticketId = null, action = {} } = opening;
  return {
    id: approvalId,
    subject: opening.subject,
    ticketId,
    description: describe(opening.action),
    ...bindAction(action, canonicalize(action)),
    grounds: await groundsOfRepair(trx, { approvalId, ticketId, action }),
    requestedBy: holder ?? opening.requested_by,
    requestedByKey: keyId ?? null,
    needed: terms.needed,
    expiresInSeconds: terms.expires_in_seconds,
    escalateAfterSeconds: terms.escalate_after_seconds,
    askingRun: opening.asking_run ? { ...opening.asking_run } : null,
    insteadOf: typeof action.instead_of === "string" ? action.instead_of : null,
  };
}

/** Describes a loop's action: the runbook and its steps, with what a restart runs. Programs describe theirs themselves. */
function describe({ runbook, version, service, steps }: ApprovalOpening["action"] = {}): string {
  if (typeof runbook !== "string") return "";
  const does = (Array.isArray(steps) ? steps : []).flatMap((step) => {
    const { argv, cwd } = step?.runs ?? {};
    const runs = Array.isArray(argv)
      ? [`It runs ${argv.join(" ")}${cwd ? ` in ${cwd}` : ""}.`]
      : [];
    return [...step?.does === undefined ? [] : [step.does], ...runs];
  });
  return [`Runbook ${runbook} ${version} for ${service}`, does.join(" ")].filter(Boolean).join(
    ": ",
  );
}
