/** Runs of workflows: listing, starting, following and cancelling them. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { describeRun, runHistory, runResult } from "./run.ts";
import { cancelRun, listRuns, listTypes } from "./runs.ts";
import { startRun } from "./start.ts";

/** Operations of this folder. */
export const workflowOperations: readonly Operation<Platform>[] = [
  listRuns,
  listTypes,
  startRun,
  describeRun,
  runResult,
  runHistory,
  cancelRun,
];
