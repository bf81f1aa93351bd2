/** API keys: issuing and revoking them. @module */
import type { Platform } from "../../calls/mod.ts";
import type { Operation } from "../../contract/mod.ts";
import { generateKey, revoke } from "./keys.ts";

/** Operations of this folder. */
export const keyOperations: readonly Operation<Platform>[] = [
  generateKey,
  revoke,
];
