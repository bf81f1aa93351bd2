/** Messages of other agents. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { a2aDispatch, a2aHealth, a2aReceive } from "./a2a.ts";

export { cancelTask, sayInTask } from "./tasks.ts";

/** Operations of this folder. */
export const a2aOperations: readonly Operation<Platform>[] = [
  a2aHealth,
  a2aReceive,
  a2aDispatch,
];
