/** Judgement of reports and of proposed repairs. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { classify } from "./classify.ts";
import { validate } from "./validate.ts";

/** Operations of this folder. */
export const judgementOperations: readonly Operation<Platform>[] = [
  classify,
  validate,
];
