/** The board of tasks. @module */
import { createTask, deleteTask, updateTask } from "./changes.ts";
import { taskList } from "./list.ts";

/** Operations of this folder. */
export const boardOperations = [
  taskList,
  createTask,
  updateTask,
  deleteTask,
];
