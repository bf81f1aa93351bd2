import { setTimeout as sleep } from "node:timers/promises";
import { isAway, JsonText, outputValue } from "../contract/mod.ts";
import type { ActEnd, ActRecord } from "../store/mod.ts";
import type { GovernedActResult } from "../workflows/mod.ts";
import type { CallReceipt } from "./_record.ts";
import type { ActOrder } from "./acts.ts";

/** Which act it is, as receipts say it. */
export function detailsOf(act: ActRecord): Record<string, string> {
  return {
    approval_id: act.approvalId,
    decision_id: act.decisionId,
    action_sha256: act.actionSha256,
  };
}

/** A receipt of an act that was not run to its end. */
export function bareReceipt(
  act: ActRecord,
  order: ActOrder,
  outcome: string,
  why: string,
): CallReceipt {
  return {
    id: order.outcomeReceiptId,
    category: "governed_act",
    actor: `key:${act.keyId}`,
    subject: act.tool,
    action: act.operation,
    outcome,
    details: { ...detailsOf(act), ...order.run },
    evidence: { error: why },
  };
}

/** How it ended, as its workflow tells it. */
export function resultOf(
  { approvalId }: ActRecord,
  end: Pick<ActRecord, "state" | "error" | "receiptId">,
): GovernedActResult {
  return {
    approval_id: approvalId,
    state: end.state as ActEnd["state"],
    error: end.error?.name ?? null,
    receipt_id: end.receiptId!,
  };
}

/** What it gave, as text. */
export function textOf(output: unknown): string {
  return output instanceof JsonText ? output.text : JSON.stringify(outputValue(output) ?? null);
}

/** What was done has to be written down, so a database that is away for a moment is waited for. */
export async function whenThere<T>(work: () => Promise<T>): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await work();
    } catch (error) {
      if (!isAway(error) || tries === 30) throw error;
      await sleep(1_000);
    }
  }
}
