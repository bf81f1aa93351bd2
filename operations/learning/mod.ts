/** Learning from resolved tickets. @module */
import { approveLesson, learningQueue } from "./queue.ts";
import { learningMetrics } from "./metrics.ts";

/** Operations of this folder. */
export const learningOperations = [
  learningQueue,
  approveLesson,
  learningMetrics,
];
