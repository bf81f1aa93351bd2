/** The service graph: services, and what depends on what. @module */
import { cmdbQuery, cmdbStatus } from "./query.ts";
import { cmdbImpact, cmdbPath } from "./reach.ts";

/** Operations of this folder. */
export const cmdbOperations = [
  cmdbStatus,
  cmdbQuery,
  cmdbImpact,
  cmdbPath,
];
