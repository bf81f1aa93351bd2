/**
 * A2A tasks: conversations, and calls of tools that do not end at once.
 *
 * ```ts
 * const tasks = await watchTasks(platform);
 * for await (const task of tasks.follow(id, owner, 0, signal)) …
 * ```
 *
 * @module
 */
export { newTask, type PendingApproval, taskWorkflowId } from "./begin.ts";
export {
  cancelRun,
  heldCallStatus,
  notifyTasks,
  type ResultOrder,
  type RunWatch,
  watchRun,
  withdrawCall,
  withResult,
} from "./calls.ts";
export {
  addMessage,
  type AgentMessage,
  cancelOpenTask,
  checkMessage,
  checkOpenTask,
} from "./conversations.ts";
export { messageHash, type OpeningMessage } from "./messages.ts";
export { recoverTaskCall } from "./recovery.ts";
export { type TaskWatch, watchTasks } from "./watch.ts";
