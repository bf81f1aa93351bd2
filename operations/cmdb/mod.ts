/** The graph of services: searching it, and what depends on what. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { cmdbQuery, cmdbStatus } from "./query.ts";
import { cmdbImpact, cmdbPath } from "./reach.ts";

/** Operations of this folder. */
export const cmdbOperations: readonly Operation<Platform>[] = [
  cmdbStatus,
  cmdbQuery,
  cmdbImpact,
  cmdbPath,
];
