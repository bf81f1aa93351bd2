/**
 * Tasks and messages of other agents (A2A).
 *
 * @module
 */
export {
  dropTask,
  getTask,
  getTaskOfAnyKey,
  listTasks,
  listTasksOfApproval,
  putTask,
  TASKS_CHANGED,
} from "./a2a_tasks.ts";
