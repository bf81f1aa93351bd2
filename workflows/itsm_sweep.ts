import { type ChildWorkflowHandle, ParentClosePolicy, startChild } from "@temporalio/workflow";
import { type Finding, type LoopResult, startAttributes, type SweepResult } from "../domain/mod.ts";
import { WorkflowExecutionAlreadyStartedError } from "@temporalio/common";
import { PATIENT, perform, SEALING } from "./_options.ts";
import { itsmLoop, runId } from "./itsm_loop.ts";

/**
 * Looks with every detector, and starts a loop for each incident: one for a root with all that it is likely to be the
 * cause of. A schedule's sweep leaves out faults whose ticket waits for people.
 *
 * Asked for by somebody, it waits for the loops that it started, and its result is that of the first; a schedule's
 * sweep leaves them to themselves.
 *
 * @param requestedBy key that asked
 */
export async function itsmSweep(requestedBy?: string): Promise<SweepResult & Partial<LoopResult>> {
  const { probed, findings, incidents, escalated } = await perform(
    PATIENT,
    "Looks with every detector",
  ).runDetectors();
  const started: ChildWorkflowHandle<typeof itsmLoop>[] = [];
  const loops: string[] = [];
  for (const found of incidents) {
    if (!requestedBy && escalated.includes(found.fingerprint)) continue; // people are on it
    const finding = requestedBy ? { ...found, requested_by: requestedBy } : found;
    loops.push(`loop-${finding.fingerprint}`);
    const child = await startOrJoin(finding);
    if (child) started.push(child);
  }
  const swept = { probed, findings, incidents: incidents.length, loops };
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
      typedSearchAttributes: startAttributes(finding),
      staticSummary: `${finding.service ?? finding.check}: ${finding.code}`,
    });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    return undefined; // the sweep has counted the sighting
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
