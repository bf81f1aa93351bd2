import { z } from "zod";
import { type Context, unknownRecord } from "../../calls/mod.ts";
import { InvalidInput, nameProblem, Problem } from "../../contract/mod.ts";
import { isBuiltInAgent } from "../../contract/domain/mod.ts";
import { requireTicket } from "../incidents/tickets/mod.ts";
import { requestSeal } from "../../ledger/mod.ts";
import type { Db } from "../../store/mod.ts";
import { addTicketEvent } from "../../store/incidents/mod.ts";
import { DateTime, text, TicketId, Timestamp, trimmedText } from "../schemas/mod.ts";
import { type BoardTask, type BoardTaskFields, TASK_STATUSES } from "../../store/board/mod.ts";

/** Id of a task. */
export const TaskId = z.string()
  .regex(/^TASK-[0-9a-f]{12}$/, "Expected TASK- and 12 hex characters")
  .describe("Id of the task, such as TASK-3e91d07a5b2c");

/** State of a task. */
export const TaskStatus = z.enum(TASK_STATUSES);

/** Version of a task that a caller has read. */
export const ExpectedVersion = z.number().int().min(1).optional().describe(
  "Version that you have read: if the task has another one by now, nothing is changed (409)",
);

/** Fields of a task in an input. */
export const TASK_FIELDS = {
  title: trimmedText(1, 200),
  description: text(0, 4000),
  status: TaskStatus,
  assignee: trimmedText(1, 100).nullable().describe(
    "A principal: the person or program who does it",
  ),
  agent_id: z.string().max(40).refine(isBuiltInAgent, {
    error: "There is no such agent; GET /v1/agents/list lists them",
  }).nullable().describe("An agent who does it, instead of a principal"),
  due_at: DateTime.nullable().describe("When it is due, the feed is told, once"),
  ticket_id: TicketId.nullable().describe("The ticket that it belongs to"),
};

/** A task. */
export const Task = z.object({
  task_id: TaskId,
  title: z.string(),
  description: z.string(),
  status: TaskStatus,
  assignee: z.string().nullable(),
  agent_id: z.string().nullable(),
  due_at: Timestamp.nullable(),
  ticket_id: z.string().nullable(),
  version: z.number().int().describe("From 1; grows with each change"),
  created_by: z.string().describe("Principal"),
  created_at: Timestamp,
  changed_at: Timestamp,
  deleted_at: Timestamp.nullable().describe("Set on what DELETE answers; no list has it then"),
}).meta({ id: "Task" });

/** A task, in examples. */
export const exampleTask = {
  task_id: "TASK-3e91d07a5b2c",
  title: "Replace the roller",
  description: "Floor 3, next to the kitchen",
  status: "todo",
  assignee: "ada",
  agent_id: null,
  due_at: "2026-07-03T15:00:00.000Z",
  ticket_id: "INC-4f1d22a90b7c",
  version: 1,
  created_by: "charles",
  created_at: "2026-07-01T12:00:00.000Z",
  changed_at: "2026-07-01T12:00:00.000Z",
  deleted_at: null,
} as const satisfies z.output<typeof Task>;

/** Checks fields that more than their schema decides about. @throws {Problem} `NotFound` @throws {InvalidInput} */
export async function checkTask(
  { assignee, agent_id, ticket_id }: Pick<BoardTaskFields, "assignee" | "agent_id" | "ticket_id">,
  { store }: { readonly store: Pick<Context["store"], "db"> },
): Promise<void> {
  const trouble = assignee && nameProblem(assignee);
  if (trouble) refuse("assignee", `The name ${trouble}`);
  if (assignee && agent_id) refuse("agent_id", "A task has an assignee or an agent, not both");
  if (ticket_id) await requireTicket(store, ticket_id);
}

function refuse(field: string, msg: string): never {
  throw new InvalidInput([{ path: [field], msg, type: "value_error" }]);
}

/** Returns the task that a call is about. @throws {Problem} `NotFound`, or `Conflict` where it was deleted */
export async function requireOpen(
  db: Db,
  id: string,
  task: BoardTask | undefined,
): Promise<BoardTask> {
  if (!task) throw await unknownRecord(db, "task", id);
  if (task.deleted_at === null) return task;
  throw new Problem("Conflict", `${id} was deleted at ${task.deleted_at}, and stays so`);
}

/** @throws {Problem} `Conflict`: the caller has read another version */
export function requireVersion(
  { task_id, version }: BoardTask,
  expected: number | undefined,
): void {
  if (expected === undefined || expected === version) return;
  const detail = `Cannot change ${task_id}: it is at version ${version} by now, and you have ` +
    `read version ${expected}; read it again`;
  throw new Problem("Conflict", detail, { body: { detail, version } });
}

/** A change of a task. */
export interface TaskChange {
  readonly word: "created" | "changed" | "deleted";
  /** Names of the fields that it sets. */
  readonly fields: readonly string[];
}

/** Requests the receipt of a change, and tells the timeline of the task's ticket when it is added and when it is done. */
export async function sealChange(
  trx: Db,
  task: BoardTask,
  { word, fields }: TaskChange,
  { caller }: Pick<Context, "caller">,
): Promise<void> {
  const { task_id, status, version, ticket_id, title, description, assignee, agent_id, due_at } =
    task;
  await requestSeal(trx, {
    category: `task_${word}`,
    actor: `key:${caller.keyId}`,
    subject: task_id,
    action: `tasks.${OPERATION_OF[word]}`,
    outcome: status,
    details: { version, fields, ...(ticket_id ? { ticket_id } : {}) },
    evidence: { task: JSON.stringify({ title, description, assignee, agent_id, due_at }) },
  });
  if (!ticket_id) return;
  const isAdded = fields.includes("ticket_id") && word !== "deleted";
  if (isAdded) {
    await addTicketEvent(trx, ticket_id, {
      key: `${task_id}-added`,
      kind: "task_added",
      data: { task_id },
    });
  }
  if (status === "done" && fields.includes("status")) {
    await addTicketEvent(trx, ticket_id, {
      key: `${task_id}-done-${version}`,
      kind: "task_done",
      data: { task_id },
    });
  }
}

const OPERATION_OF = { created: "create", changed: "update", deleted: "delete" };
