import { setTimeout as sleep } from "node:timers/promises";
import type { GovernedActResult } from "../domain/mod.ts";
import { isDatabaseAway, JsonText, outputValue, type Recovery } from "../contract/mod.ts";
import { type ActEnd, type ActRecord, unknownTicketOf } from "../store/mod.ts";
import type { CallReceipt } from "./record.ts";
import type { ActOrder } from "./approved_calls.ts";

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

/** How an act ended that was begun by a process which has ended since. */
interface LostEnd {
  readonly end: Omit<ActEnd, "receiptId">;
  /** As its receipt says it. */
  readonly outcome: string;
  /** A sentence. */
  readonly why: string;
  /** What it made, for the receipt. */
  readonly found?: { readonly found: Readonly<Record<string, string>> };
  /** Where people may look. */
  readonly look?: string | undefined;
}

/** Says how an act ended, by what was found of it. @param receiptId of its end */
export function lostEnd({ approvalId }: ActRecord, receiptId: string, found: Recovery): LostEnd {
  const began = `${approvalId} was begun, and its process ended`;
  if (found.state === "done") {
    return {
      end: { state: "done", output: textOf(found.output), error: null },
      outcome: "success",
      why: `${began} before it could tell: what it made was found`,
      found: { found: found.ids },
    };
  }
  if (found.state === "failed") {
    const { error, ids } = found;
    const why = `${began} before it could tell: ${error.message}`;
    return {
      end: { state: "failed", output: null, error: { name: error.name, message: error.message } },
      ...{ outcome: "failed", why, found: { found: ids } },
    };
  }
  if (found.state === "not_done") {
    const why = `${began} before it did anything, which is proven`;
    const error = { name: "Unavailable", message: why };
    return { end: { state: "refused", output: null, error }, outcome: "not_done", why };
  }
  const { look = "at what it acts on" } = found;
  const why =
    `${began} before it was known what became of it. It may have been done: look ${look}, ` +
    `as people are asked to in ticket ${unknownTicketOf(receiptId)}`;
  const error = { name: "OutcomeUnknown", message: why };
  const end = { state: "unknown", output: null, error } as const;
  return { end, outcome: "unknown", why, look: found.look };
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
      if (!isDatabaseAway(error) || tries === 30) throw error;
      await sleep(1_000);
    }
  }
}
