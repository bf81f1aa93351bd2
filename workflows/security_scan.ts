import { workflowInfo } from "@temporalio/workflow";
import type { ScanResult } from "../domain/mod.ts";
import { PATIENT, perform } from "./_options.ts";

/** Looks for weaknesses of the platform and its host, and seals that it did. Its id is `security-scan`. */
export async function securityScan(): Promise<ScanResult> {
  const { workflowId: workflow_id, runId: run_id } = workflowInfo();
  return await perform(PATIENT, "Looks with every scanner").runSecurityScan({
    workflow_id,
    run_id,
  });
}
