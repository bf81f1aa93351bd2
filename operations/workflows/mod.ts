/** Workflows: listing, starting, following and cancelling their runs. @module */
import { cancelWorkflow } from "./cancel.ts";
import { workflowHistory, workflowInfo, workflowResult } from "./run.ts";
import { workflowList, workflowTypes } from "./runs.ts";
import { startWorkflow } from "./start.ts";

/** Operations of this folder. */
export const workflowOperations = [
  workflowList,
  workflowTypes,
  startWorkflow,
  workflowInfo,
  workflowResult,
  workflowHistory,
  cancelWorkflow,
];
