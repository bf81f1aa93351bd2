/** Spans of calls: who called what is left out; how long it took, how it ended, and what it led to is kept. */
import { outputValue } from "../contract/mod.ts";
import { countCall, countDecision } from "../runtime/metrics/mod.ts";
import { type CallSpan, spanIdsOf } from "../store/platform/mod.ts";
import { tenantOf } from "./platform.ts";
import type { EndedCall } from "./record.ts";

/** Returns the span of a call; undefined: it has none, as it is a device's or a probe's. */
export function spanOfCall(call: EndedCall, receiptId: string | undefined): CallSpan | undefined {
  const { operation, request, caller, output, error, decision, durationMs } = call;
  if (operation.access === "device" || operation.governance?.limits?.counted === false) {
    return undefined;
  }
  const endedMs = Date.now();
  const links = operation.effect === "read" ? {} : linksOf(output);
  return {
    tenant: tenantOf(caller),
    ...spanIdsOf(call.repeats ? undefined : decision?.id),
    name: operation.name,
    door: request.door,
    error: error?.name ?? null,
    startedAt: new Date(endedMs - durationMs),
    endedAt: new Date(endedMs),
    receiptId: receiptId ?? links.receipt_id ?? null,
    workflowId: links.workflow_id ?? null,
    runId: links.run_id ?? null,
  };
}

/** Counts a call for the metrics. */
export function countEndedCall(
  { operation, request, error, decision, durationMs }: EndedCall,
): void {
  countCall({
    operation: operation.name,
    door: request.door,
    effect: operation.effect,
    outcome: !error ? "success" : error.rule.status < 500 ? "refused" : "failed",
    seconds: durationMs / 1_000,
  });
  if (decision) countDecision(decision.decision, operation.effect);
}

/** Returns the run and the receipt that an output names. */
function linksOf(output: unknown): Readonly<Record<string, string | undefined>> {
  const value: Record<string, unknown> = Object(outputValue(output ?? null));
  const names = ["workflow_id", "run_id", "receipt_id"];
  return Object.fromEntries(
    names.flatMap((name) => typeof value[name] === "string" ? [[name, value[name]]] : []),
  );
}
