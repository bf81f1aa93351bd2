import { join } from "node:path";
import { bundleWorkflowCode, type WorkflowBundle } from "@temporalio/worker";
import { ROOT } from "../config.ts";

const QUIET = { log() {}, trace() {}, debug() {}, info() {}, warn() {}, error: console.error };

let bundle: Promise<WorkflowBundle> | undefined;

/** Returns the bare workflow as workers load it, and bundles it once. */
export function bundleBareWorkflow(): Promise<WorkflowBundle> {
  const workflowsPath = join(ROOT, "bench", "_bare_workflow.ts");
  return bundle ??= bundleWorkflowCode({ workflowsPath, logger: QUIET });
}

/** Activities of the bare workflow. */
export const BARE_ACTIVITIES = { doNothing: () => Promise.resolve() };
