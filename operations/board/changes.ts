import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import { idOfCall } from "../../calls/recover/mod.ts";
import {
  checkTask,
  exampleTask,
  ExpectedVersion,
  requireOpen,
  requireVersion,
  sealChange,
  Task,
  TASK_FIELDS,
  TaskId,
} from "./_task.ts";
import {
  addBoardTask,
  type BoardTaskFields,
  deleteBoardTask,
  getBoardTask,
  lockBoardTask,
  updateBoardTask,
} from "../../store/board/mod.ts";

/** Adds a task to the board. */
export const createTask = operation({
  name: "tasks.create",
  group: "people",
  summary: "Add a task to the board",
  description:
    "It is somebody's, an agent's, or nobody's yet. What it says stays private; the fact that it was added is sealed.",
  effect: "write",
  access: "key",
  input: z.object({
    title: TASK_FIELDS.title,
    description: TASK_FIELDS.description.default(""),
    status: TASK_FIELDS.status.default("todo"),
    assignee: TASK_FIELDS.assignee.default(null),
    agent_id: TASK_FIELDS.agent_id.default(null),
    due_at: TASK_FIELDS.due_at.default(null),
    ticket_id: TASK_FIELDS.ticket_id.default(null),
  }),
  output: Task,
  rest: { tasks_create: "POST /v1/tasks" },
  presentation: { hints: { destructive: false }, errors: ["NotFound"] },
  governance: {
    rule: "key-decides",
    addressee: "agent_id",
    check: (input, context) => checkTask(input, context),
  },
  durability: { sealsItself: true, commits: true },
  example: {
    input: { title: exampleTask.title, assignee: "ada", due_at: exampleTask.due_at },
    output: exampleTask,
  },
  run: async (input, context) => {
    await checkTask(input, context);
    const { caller, decisionId } = context;
    return await context.commit(async (trx) => {
      const id = `TASK-${idOfCall(decisionId, 12)}`;
      const task = await addBoardTask(trx, id, caller.principal, input);
      const fields = setFields(input);
      await sealChange(trx, task, { word: "created", fields }, context);
      return task;
    });
  },
});

/** Changes a task. */
export const updateTask = operation({
  name: "tasks.update",
  group: "people",
  summary: "Change fields of a task, or move it on the board",
  description:
    "Fields that are left out stay; null empties one. A task given to an agent is nobody's else, and the other way round. " +
    "With the `version` that you have read, a change that somebody made in between is not overwritten: you get 409.",
  effect: "write",
  access: "key",
  input: z.object({
    task_id: TaskId,
    title: TASK_FIELDS.title.optional(),
    description: TASK_FIELDS.description.optional(),
    status: TASK_FIELDS.status.optional(),
    assignee: TASK_FIELDS.assignee.optional(),
    agent_id: TASK_FIELDS.agent_id.optional(),
    due_at: TASK_FIELDS.due_at.optional(),
    ticket_id: TASK_FIELDS.ticket_id.optional(),
    version: ExpectedVersion,
  }),
  output: Task,
  rest: { tasks_update: "PATCH /v1/tasks/{task_id}" },
  presentation: { errors: ["NotFound", "Conflict"] },
  governance: {
    rule: "key-decides",
    addressee: "agent_id",
    async check({ task_id, version, ...changes }, context) {
      const task = await requireOpen(
        context.store.db,
        task_id,
        await getBoardTask(context.store.db, task_id),
      );
      requireVersion(task, version);
      await checkTask(merge(task, changes), context);
    },
  },
  durability: { sealsItself: true, commits: true },
  example: {
    input: { task_id: exampleTask.task_id, status: "doing", version: 1 },
    output: { ...exampleTask, status: "doing", version: 2 },
  },
  run: async ({ task_id, version, ...changes }, context) => {
    return await context.commit(async (trx) => {
      const before = await requireOpen(trx, task_id, await lockBoardTask(trx, task_id));
      requireVersion(before, version);
      const merged = merge(before, changes);
      await checkTask(merged, { store: { db: trx } });
      const task = await updateBoardTask(trx, task_id, merged);
      const fields = FIELDS.filter((name) => before[name] !== task[name]);
      await sealChange(trx, task, { word: "changed", fields }, context);
      return task;
    });
  },
});

/** Deletes a task. */
export const deleteTask = operation({
  name: "tasks.delete",
  group: "people",
  summary: "Remove a task from the board",
  description: "It is listed no more and cannot be changed; its record stays.",
  effect: "write",
  access: "key",
  input: z.object({ task_id: TaskId, version: ExpectedVersion }),
  output: Task,
  rest: { tasks_delete: "DELETE /v1/tasks/{task_id}" },
  presentation: { hints: { destructive: true }, errors: ["NotFound", "Conflict"] },
  governance: {
    rule: "key-decides",
    async check({ task_id, version }, { store }) {
      requireVersion(
        await requireOpen(store.db, task_id, await getBoardTask(store.db, task_id)),
        version,
      );
    },
  },
  durability: { sealsItself: true, commits: true },
  example: {
    input: { task_id: exampleTask.task_id },
    output: { ...exampleTask, version: 2, deleted_at: "2026-07-02T08:00:00.000Z" },
  },
  run: async ({ task_id, version }, context) => {
    return await context.commit(async (trx) => {
      requireVersion(await requireOpen(trx, task_id, await lockBoardTask(trx, task_id)), version);
      const task = await deleteBoardTask(trx, task_id);
      await sealChange(trx, task, { word: "deleted", fields: [] }, context);
      return task;
    });
  },
});

const FIELDS = [
  "title",
  "description",
  "status",
  "assignee",
  "agent_id",
  "due_at",
  "ticket_id",
] as const;

/** Returns the fields that are not empty. */
function setFields(fields: BoardTaskFields): string[] {
  return FIELDS.filter((name) => fields[name] !== null && fields[name] !== "");
}

/** Applies changes. Whoever is given a task replaces who had it. */
function merge(
  task: BoardTaskFields,
  changes: { readonly [Name in keyof BoardTaskFields]?: BoardTaskFields[Name] | undefined },
): BoardTaskFields {
  const given = Object.fromEntries(Object.entries(changes).filter(([, one]) => one !== undefined));
  const replaced = changes.agent_id && !changes.assignee
    ? { assignee: null }
    : changes.assignee && !changes.agent_id
    ? { agent_id: null }
    : {};
  return { ...task, ...replaced, ...given };
}
