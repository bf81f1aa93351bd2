/** Answers and diagnoses by several agents. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { dispatchCrew } from "./crew.ts";
import { reason } from "./reasoning.ts";

/** Operations of this folder. */
export const reasoningOperations: readonly Operation<Platform>[] = [
  reason,
  dispatchCrew,
];
