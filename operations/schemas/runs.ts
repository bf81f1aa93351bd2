import { z } from "zod";
import type { StartedRun as RunIds } from "../../contract/domain/mod.ts";
import { EXAMPLE_RUN_ID } from "./common.ts";

/** An approval that a run waits for. */
export const AwaitedApproval = z.object({
  approval_id: z.string(),
  description: z.string().describe("What is asked for, in words"),
  rule: z.string().nullable().describe("Rule, or rails of the guardrails, that ask"),
  reasons: z.array(z.string()).describe("Why people are asked"),
  until: z.iso.datetime().describe("Until when they can decide"),
  decide: z.string().describe("How to decide"),
}).meta({ id: "AwaitedApproval" });

/** A started run, with its result where the call has waited for it. */
export const StartedRun = z.object({
  workflow_id: z.string(),
  run_id: z.string(),
  result_url: z.url().describe("GET it to wait for the result"),
  status: z.enum(["RUNNING", "COMPLETED", "FAILED"]).describe(
    "RUNNING: the run had not ended when this answer was made; it continues by itself",
  ),
  result: z.looseObject({
    outcome: z.string().optional().describe("sealed, clear or escalated"),
    ticket_id: z.string().nullable().optional(),
    receipt_id: z.string().nullable().optional(),
  }).nullable().describe("Result of a completed run; null: none yet, or the run failed"),
  failure: z.string().nullable(),
  waits_for: AwaitedApproval.optional().describe(
    "The approval by people that it waits for; absent: it waits for none",
  ),
}).meta({ id: "StartedRun" });

/** Seconds to wait for a run. */
export const WaitSeconds = z.number().int().min(0).max(50).optional().describe(
  "Maximum seconds to wait for the run's end; its steps are reported to clients that ask for progress. Default: 0 over " +
    "REST, 25 otherwise",
);

/** Builds the output of an operation once its run has completed. */
export function completedRun(started: RunIds, result: unknown) {
  return { ...started, status: "COMPLETED", result: result ?? null };
}

/** A started run, in examples. */
export const exampleStartedRun = {
  workflow_id: "loop-1d0f6a2b9c3e4857",
  run_id: EXAMPLE_RUN_ID,
  result_url: "http://127.0.0.1:8080/v1/workflows/loop-1d0f6a2b9c3e4857/result",
  status: "RUNNING",
  result: null,
  failure: null,
} as const satisfies z.output<typeof StartedRun>;

/** Tells how a run stands. */
export function tellRun(run: z.output<typeof StartedRun>): readonly string[] {
  const { workflow_id, status, result, failure, waits_for, result_url } = run;
  const { outcome, ticket_id, receipt_id } = result ?? {};
  if (status === "FAILED") {
    return [`The run ${workflow_id} failed: ${failure ?? "its history has why"}.`];
  }
  const ended = [
    `The run ${workflow_id} has ended${outcome ? `: ${outcome}` : ""}.`,
    ...(ticket_id ? [`Its ticket is ${ticket_id}; get_incident_details tells it.`] : []),
    ...(receipt_id ? [`It is sealed in receipt ${receipt_id}.`] : []),
  ];
  if (status === "COMPLETED") return ended;
  if (!waits_for) return [`The run ${workflow_id} continues by itself. Its result: ${result_url}`];
  const { approval_id, description, rule, reasons, until, decide } = waits_for;
  return [
    `The run ${workflow_id} waits for people until ${until}: ${description}`,
    `They are asked by ${rule ?? "the guardrails"}${
      reasons.length > 0 ? `, as ${reasons.join("; ")}` : ""
    }.`,
    `The approval is ${approval_id}. To decide: ${decide}.`,
  ];
}
