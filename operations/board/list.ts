import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { Limit, TicketId } from "../schemas/mod.ts";
import { exampleTask, Task, TaskId, TaskStatus } from "./_task.ts";
import { listBoardTasks } from "../../store/board/mod.ts";

/** Tasks of the board, newest first. */
export const taskList = operation({
  name: "tasks.list",
  group: "people",
  summary: "List the tasks of the board, newest first",
  effect: "read",
  access: "key",
  input: z.object({
    status: TaskStatus.optional().describe("Only tasks in this state"),
    agent_id: z.string().min(1).max(40).optional().describe("Only tasks of this agent"),
    assignee: z.string().min(1).max(100).optional().describe("Only tasks of this principal"),
    ticket_id: TicketId.optional().describe("Only tasks of this ticket"),
    before: TaskId.optional().describe("Only tasks older than this one: the last of a page"),
    limit: Limit,
  }),
  output: z.object({
    total: z.number().int().describe("Tasks that the filter selects, on all pages"),
    tasks: z.array(Task),
  }),
  rest: { tasks_list: "GET /v1/tasks" },
  presentation: { untrusted: true },
  example: { input: { status: "todo" }, output: { total: 1, tasks: [exampleTask] } },
  run: async (filter, { store }) => await listBoardTasks(store.db, filter),
});
