/**
 * Tasks of people.
 *
 * @module
 */
export {
  addBoardTask,
  type BoardTask,
  type BoardTaskFields,
  deleteBoardTask,
  getBoardTask,
  listBoardTasks,
  lockBoardTask,
  TASK_STATUSES,
  tellDueTasks,
  updateBoardTask,
} from "./board_tasks.ts";
