import { InvalidInput, redactSecrets } from "../../contract/mod.ts";
import { type Condition, type DecisionRecord, decisionRow, type Db, rowPart } from "../../store/mod.ts";
import type { GovernedCall } from "../invoke.ts";
import { type Sealer, type SealRequest, sealTogether } from "../../ledger/mod.ts";
import type { Recorded } from "./ruling.ts";

/** A decision that is to be put on record. */
export interface DecisionEntry<C> {
  readonly call: GovernedCall<C>;
  readonly ruling: Recorded;
  /** Whether it is run now. */
  readonly runs: boolean;
  readonly approvalId?: string;
  /** Lock that this process holds; absent where nothing is run. */
  readonly holder?: number;
}

/**
 * Puts a decision on record: a row and a receipt, both or none. Decisions of the same time share a statement.
 *
 * @param when what must hold; else neither is written
 * @returns what was found as that was asked
 */
export async function recordDecision<C>(
  sealer: Sealer,
  entry: DecisionEntry<C>,
  when?: Condition,
): Promise<unknown> {
  const receipt = receiptOf(entry);
  const row = decisionRow(recordOf(entry));
  try {
    return (await sealer.request(receipt, row, { when, patient: true })).found;
  } catch (reason) {
    if (!(reason instanceof InvalidInput)) throw reason;
    const text = JSON.stringify(receipt.evidence); // nested too deep for a canonical form
    const shown = { ...receipt, evidence: { text } };
    return (await sealer.request(shown, row, { when, patient: true })).found;
  }
}

/** The same within a transaction. */
export async function recordWithin<C>(on: Db, entry: DecisionEntry<C>): Promise<void> {
  await sealTogether(on, [rowPart(decisionRow(recordOf(entry)))], receiptOf(entry));
}

function recordOf<C>({ call, ruling, runs, approvalId, holder }: DecisionEntry<C>): DecisionRecord {
  const { operation, request, caller } = call;
  return {
    id: ruling.id,
    tenant: caller.tenant,
    keyId: caller.keyId!,
    principal: caller.principal,
    door: request.door,
    tool: request.as,
    operation: operation.name,
    effect: operation.effect,
    decision: ruling.decision,
    rule: ruling.rule,
    reasons: ruling.reasons,
    policyVersion: ruling.policyVersion,
    dryRun: ruling.dryRun,
    approvalId: approvalId ?? null,
    receiptId: ruling.receiptId,
    callReceiptId: ruling.callReceiptId ?? null,
    runs,
    holder: holder ?? null,
  };
}

function receiptOf<C>(entry: DecisionEntry<C>): SealRequest {
  const { call: { operation, request, caller, input }, ruling, approvalId } = entry;
  return {
    id: ruling.receiptId,
    category: "governance_decision",
    actor: `key:${caller.keyId}`,
    subject: request.as,
    action: operation.name,
    outcome: ruling.decision,
    details: {
      decision_id: ruling.id,
      door: request.door,
      effect: operation.effect,
      rule: ruling.rule,
      policy_version: ruling.policyVersion,
      ...(ruling.dryRun ? { dry_run: true } : {}),
      ...(approvalId ? { approval_id: approvalId } : {}),
      ...(ruling.callReceiptId ? { call_receipt_id: ruling.callReceiptId } : {}),
    },
    evidence: { arguments: redactSecrets(plain(input)), reasons: ruling.reasons },
  };
}

/** As JSON has it. */
export function plain(input: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return JSON.parse(JSON.stringify(input));
}
