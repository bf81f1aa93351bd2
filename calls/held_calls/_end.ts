import { setTimeout as sleep } from "node:timers/promises";
import { isDatabaseAway, outputText, type Recovery } from "../../contract/mod.ts";
import type { HeldCallResult } from "../../contract/domain/mod.ts";
import type { HeldCall, HeldCallEnd } from "../../store/approvals/mod.ts";
import { unknownCallTicketId } from "../../store/incidents/mod.ts";
import type { CallReceipt } from "../record.ts";
import type { RunOrder } from "./order.ts";

/** Returns the ids of a held call, as its receipts name them. */
export function receiptDetails(held: HeldCall): Record<string, string> {
  return {
    approval_id: held.approvalId,
    decision_id: held.decisionId,
    action_commitment: held.actionCommitment,
  };
}

/** Returns the receipt of a call that was not run to its end. @param why a sentence, kept privately */
export function endingReceipt(
  held: HeldCall,
  { outcomeReceiptId, run }: Pick<RunOrder, "outcomeReceiptId" | "run">,
  outcome: string,
  why: string,
): CallReceipt {
  return {
    id: outcomeReceiptId,
    category: "governed_act",
    actor: `key:${held.keyId}`,
    subject: held.tool,
    action: held.operation,
    outcome,
    details: { ...receiptDetails(held), ...run },
    evidence: { error: why },
  };
}

/** The end of a call that began in a process which has ended since. */
interface RecoveredEnd {
  readonly end: Omit<HeldCallEnd, "receiptId">;
  /** In the receipt. */
  readonly outcome: string;
  /** A sentence. */
  readonly why: string;
  /** For the receipt: ids of what it made. */
  readonly details?: { readonly found: Readonly<Record<string, string>> };
  /** Where people may look. */
  readonly look?: string | undefined;
}

/** Returns how a lost call ended, by what was found of its effect. @param receiptId of its end */
export function recoveredEnd(
  { approvalId }: HeldCall,
  receiptId: string,
  recovery: Recovery,
): RecoveredEnd {
  const began = `${approvalId} was begun, and its process ended`;
  switch (recovery.state) {
    case "done":
      return {
        end: { state: "done", output: outputText(recovery.output), error: null },
        outcome: "success",
        why: `${began} before it could report: what it made was found`,
        details: { found: recovery.ids },
      };
    case "failed": {
      const { name, message } = recovery.error;
      return {
        end: { state: "failed", output: null, error: { name, message } },
        outcome: "failed",
        why: `${began} before it could report: ${message}`,
        details: { found: recovery.ids },
      };
    }
    case "not_done": {
      const why = `${began} before it did anything, which is proven`;
      const error = { name: "Unavailable", message: why };
      return { end: { state: "refused", output: null, error }, outcome: "not_done", why };
    }
    case "unknown": {
      const { look = "at what it acts on" } = recovery;
      const why = `${began} before it was known what became of it. It may have been done: look ` +
        `${look}, as people are asked to in ticket ${unknownCallTicketId(receiptId)}`;
      const error = { name: "OutcomeUnknown", message: why };
      const end = { state: "unknown", output: null, error } as const;
      return { end, outcome: "unknown", why, look: recovery.look };
    }
  }
}

/** Returns how a held call ended, as its workflow reports it. */
export function resultOf(
  { approvalId }: HeldCall,
  end: Pick<HeldCall, "state" | "error" | "receiptId">,
): HeldCallResult {
  return {
    approval_id: approvalId,
    state: end.state as HeldCallEnd["state"],
    error: end.error?.name ?? null,
    receipt_id: end.receiptId!,
  };
}

const MAX_ATTEMPTS = 30;

/** Repeats work while the database is away, for half a minute: what was done has to be stored. */
export async function retryWhileAway<T>(work: () => Promise<T>): Promise<T> {
  for (let attempt = 1;; attempt++) {
    try {
      return await work();
    } catch (error) {
      if (!isDatabaseAway(error) || attempt === MAX_ATTEMPTS) throw error;
      await sleep(1_000);
    }
  }
}
