import { InvalidInput, redactSecrets } from "../../contract/mod.ts";
import { sealArguments, type SealRequest } from "../../ledger/mod.ts";
import { batch, type Db } from "../../store/mod.ts";
import { type DecisionRecord, recordDecisions } from "../../store/calls/mod.ts";
import { actorOf, callerEvidence } from "../actor.ts";
import type { CheckedCall } from "../run.ts";
import type { Evaluation } from "./_evaluation.ts";

/** An evaluation with the ids under which it is put on record. */
export interface RecordedEvaluation extends Evaluation {
  /** `GOV-` and 12 hex characters. */
  readonly id: string;
  readonly receiptId: string;
  /** Id of the receipt of the call's end; absent: the operation seals that itself. */
  readonly callReceiptId: string | undefined;
  readonly policyVersion: string;
  readonly dryRun: boolean;
}

/** A decision that is to be put on record. */
export interface DecisionEntry {
  readonly call: CheckedCall;
  readonly evaluation: RecordedEvaluation;
  /** True: the call is run now. */
  readonly runs: boolean;
  readonly approvalId?: string;
  /** Number of the lock by which this process shows that it lives; absent where nothing is run. */
  readonly holder?: number;
  /** True: the evidence is kept as one JSON text. */
  readonly evidenceAsText?: boolean;
}

const MAX_AT_ONCE = 64;

/**
 * Returns the function that puts decisions on record: a row and a receipt, both or none. Decisions that are made at the
 * same time share a statement; one that the database refuses fails by itself.
 */
export function openDecisionRecorder(db: Db): (entry: DecisionEntry) => Promise<void> {
  const writeAlone = async (entry: DecisionEntry) => {
    try {
      await putOnRecord(db, [entry]);
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error;
      await putOnRecord(db, [{ ...entry, evidenceAsText: true }]); // nested too deep for a canonical form
    }
  };
  return batch(async (entries: DecisionEntry[]) => {
    try {
      await putOnRecord(db, entries);
      return entries.map(() => undefined);
    } catch (error) {
      if (!isOfOneEntry(error)) throw error;
      return await Promise.all(entries.map((entry) => writeAlone(entry).catch(toError)));
    }
  }, { maxSize: MAX_AT_ONCE, concurrency: 2 });
}

const toError = (error: unknown) => error instanceof Error ? error : new Error(String(error));

/** Data exceptions and violated constraints are about one entry; others can be written without it. */
function isOfOneEntry(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return error instanceof InvalidInput || /^2[23]/.test(String(code));
}

/** Puts decisions on record: rows and receipts, all or none. */
export async function putOnRecord(db: Db, entries: readonly DecisionEntry[]): Promise<void> {
  await recordDecisions(db, entries.map(recordOf), sealArguments(db, entries.map(receiptOf)));
}

function recordOf({ call, evaluation, runs, approvalId, holder }: DecisionEntry): DecisionRecord {
  const { operation, request, caller } = call;
  return {
    id: evaluation.id,
    tenant: caller.tenant,
    keyId: caller.keyId!,
    principal: caller.principal,
    door: request.door,
    tool: request.as,
    operation: operation.name,
    effect: operation.effect,
    decision: evaluation.decision,
    rule: evaluation.rule,
    reasons: evaluation.reasons,
    callerApproves: evaluation.callerApproves,
    policyVersion: evaluation.policyVersion,
    dryRun: evaluation.dryRun,
    approvalId: approvalId ?? null,
    receiptId: evaluation.receiptId,
    callReceiptId: evaluation.callReceiptId ?? null,
    runs,
    holder: holder ?? null,
  };
}

function receiptOf(entry: DecisionEntry): SealRequest {
  const { call, evaluation, approvalId, evidenceAsText } = entry;
  const { operation, request, caller, input } = call;
  const { callReceiptId } = evaluation;
  const evidence = {
    ...callerEvidence(operation, caller),
    arguments: redactSecrets(asJson(operation.durability?.asEvidence?.(input) ?? input)),
    reasons: evaluation.reasons,
    ...evaluation.signed,
    ...(evaluation.grantedAction ? { action: evaluation.grantedAction } : {}),
  };
  return {
    id: evaluation.receiptId,
    category: "governance_decision",
    actor: actorOf(operation, caller.keyId),
    subject: request.as,
    action: operation.name,
    outcome: evaluation.decision,
    tenant: caller.tenant,
    details: {
      decision_id: evaluation.id,
      door: request.door,
      effect: operation.effect,
      rule: evaluation.rule,
      policy_version: evaluation.policyVersion,
      ...(evaluation.opinionId ? { opa_decision_id: evaluation.opinionId } : {}),
      ...(evaluation.callerApproves ? { caller_approves: true } : {}),
      ...(evaluation.callerApproves && (evaluation.passkey || caller.session)
        ? { passkey: true } // a key alone does not decide
        : {}),
      ...(evaluation.signed ? { signed_with: "passkey" } : {}),
      ...(evaluation.dryRun ? { dry_run: true } : {}),
      ...(approvalId ? { approval_id: approvalId } : {}),
      ...evaluation.grant,
      ...(callReceiptId ? { call_receipt_id: callReceiptId } : {}),
    },
    evidence: evidenceAsText ? { text: JSON.stringify(evidence) } : evidence,
  };
}

/** Returns an input as JSON keeps it. */
export function asJson(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(input));
}
