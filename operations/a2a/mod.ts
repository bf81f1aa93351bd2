/** Messages of other agents, over REST with the shared token or over A2A. @module */
import { a2aHealth, dispatchMessage, receiveMessage } from "./a2a.ts";

export { cancelTask, sendMessage } from "./tasks.ts";

/** Operations of this folder. */
export const a2aOperations = [
  a2aHealth,
  receiveMessage,
  dispatchMessage,
];
