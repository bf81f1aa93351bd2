/**
 * Tasks of people.
 *
 * @module
 */
export {
  addBoardTask,
  type BoardTask,
  type BoardTaskFields,
  type BoardTaskFilter,
  deleteBoardTask,
  getBoardTask,
  listBoardTasks,
  lockBoardTask,
  TASK_STATUSES,
  type TaskStatus,
  tellDueTasks,
  updateBoardTask,
} from "./board_tasks.ts";
