/** API keys: issuing and revoking them. @module */
import { generateKey, revokeKey } from "./keys.ts";
import { keyList } from "./list.ts";

/** Operations of this folder. */
export const keyOperations = [
  generateKey,
  revokeKey,
  keyList,
];
