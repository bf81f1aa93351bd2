import {
  type ChildWorkflowHandle,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
} from "@temporalio/workflow";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { ATTRIBUTE } from "../temporal/attributes.ts";
import { PATIENT, perform, SEALING } from "./_options.ts";
import { foundAgain, itsmLoop, runId } from "./itsm_loop.ts";
import type { Finding, LoopResult } from "./types.ts";

/** What a sweep found and started. */
export interface SweepResult {
  readonly probed: number;
  readonly findings: number;
  /** Ids of the loops that run for the findings, whether this sweep started or joined them. */
  readonly loops: readonly string[];
}

/**
 * Probes every watched service, and starts a loop for each finding; a schedule's sweep leaves out faults whose ticket
 * waits for people.
 *
 * Asked for by somebody, it waits for the loops that it started, and its result is that of the first; a schedule's
 * sweep leaves them to themselves.
 *
 * @param requestedBy key that asked
 */
export async function itsmSweep(requestedBy?: string): Promise<SweepResult & Partial<LoopResult>> {
  const { probed, findings, escalated } = await perform(PATIENT, "Probes every watched service")
    .probeServices();
  const started: ChildWorkflowHandle<typeof itsmLoop>[] = [];
  const loops: string[] = [];
  for (const found of findings) {
    if (!requestedBy && escalated.includes(found.fingerprint)) continue; // people are on it
    const finding = requestedBy ? { ...found, requested_by: requestedBy } : found;
    loops.push(`loop-${finding.fingerprint}`);
    const child = await startOrJoin(finding);
    if (child) started.push(child);
  }
  const swept = { probed, findings: findings.length, loops };
  if (!requestedBy) return swept;
  if (started.length === 0) return { ...swept, ...await nothingStarted(requestedBy, loops) };
  const results = await Promise.all(started.map((child) => child.result()));
  return { ...swept, ...results[0]! };
}

async function startOrJoin(finding: Finding) {
  const workflowId = `loop-${finding.fingerprint}`;
  try {
    return await startChild(itsmLoop, {
      workflowId,
      args: [finding],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      typedSearchAttributes: [{ key: ATTRIBUTE.service, value: finding.service ?? "reported" }],
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await getExternalWorkflowHandle(workflowId).signal(foundAgain, finding).catch(() => {}); // it has just ended
    return undefined;
  }
}

async function nothingStarted(
  requestedBy: string,
  joined: readonly string[],
): Promise<Partial<LoopResult>> {
  if (joined.length > 0) return {};
  const finding: Finding = {
    service: null,
    check: "report",
    code: "swept",
    fingerprint: "",
    observed_at: new Date().toISOString(),
    requested_by: requestedBy,
  };
  const receipt_id = await perform(SEALING, "Seals that nothing was found").sealClear({
    finding,
    run: runId(),
  });
  return { outcome: "clear", steps: [], ticket_id: null, receipt_id };
}
