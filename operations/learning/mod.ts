/** Learning from resolved tickets. @module */
import { learningMetrics } from "./metrics.ts";
import { approveLesson, learningQueue } from "./queue.ts";

/** Operations of this folder. */
export const learningOperations = [
  learningQueue,
  approveLesson,
  learningMetrics,
];
