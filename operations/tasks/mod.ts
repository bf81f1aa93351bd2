/** The board of tasks. @module */
import { createTask, deleteTask, updateTask } from "./changes.ts";
import { taskList } from "./list.ts";

/** Operations of this folder. */
export const taskOperations = [
  taskList,
  createTask,
  updateTask,
  deleteTask,
];
