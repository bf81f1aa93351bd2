/** Judgement of reports and of proposed repairs. @module */
import { classifyReport } from "./classify.ts";
import { validateRepair } from "./validate.ts";

/** Operations of this folder. */
export const reportOperations = [
  classifyReport,
  validateRepair,
];
