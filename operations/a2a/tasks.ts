import { isDeepStrictEqual } from "node:util";
import {
  cancelUpdate,
  MAX_CHARACTERS,
  sayUpdate,
  type TaskMessage,
  type TaskRecord,
  TERMINAL_STATES,
} from "../../domain/mod.ts";
import { z } from "zod";
import { InvalidInput, Problem } from "../../contract/mod.ts";
import { getTask, noteCallEffects } from "../../store/mod.ts";
import { FULL } from "../_audience.ts";
import {
  beginTask,
  findOpenedTask,
  findStartedTask,
  newTask,
  recoverTaskCall,
  taskWorkflowId,
} from "../../calls/tasks/mod.ts";
import { type Context, mapTemporalErrors, operation } from "../../calls/mod.ts";

const Id = z.string().min(1).max(200);
const Part = z.union([
  z.strictObject({ text: z.string() }),
  z.strictObject({ data: z.record(z.string(), z.unknown()) }),
]);
const Task = z.custom<TaskRecord>((value) => typeof value === "object" && value !== null);
const example = newTask({
  id: "0b6a5b1e-7a59-4c0e-9d0f-0f6b1f1c2d3e",
  context_id: "5b0c7c3e-30c5-4b6e-8f0c-0c6c5d4b3a29",
  key_id: "1f0c7b5a9d3e4820",
  since: "2026-07-01T12:00:00.000Z",
});
/** Not a tool of its own: what is said over A2A goes to the pipeline, and is bound by the same scopes. */
const tool = { invoke_reasoning_pipeline: FULL };
/** The protocol's own name of it. */
const CANCEL = "tasks/cancel";

/** Takes what an agent says: in a new task, or in one of its own that is open. */
export const sayInTask = operation({
  name: "a2a.message",
  group: "platform",
  summary: "Take a message of another agent",
  effect: "run",
  access: "key",
  input: z.object({
    message_id: Id,
    task_id: Id.optional(),
    opens: z.uuid().optional().describe("Id of the task that it begins; left out: its own"),
    context_id: Id.optional(),
    parts: z.array(Part).min(1).max(20)
      .refine((parts) => JSON.stringify(parts).length < MAX_CHARACTERS, {
        message: `Expected at most ${MAX_CHARACTERS} characters`,
      }),
  }),
  output: Task,
  tool,
  errors: ["NotFound", "Conflict", "TooLarge", "Unavailable"],
  example: { input: { message_id: "m1", parts: [{ text: "billing is down" }] }, output: example },
  recover: recoverTaskCall,
  run: async ({ message_id, task_id, opens, context_id, parts }, context) => {
    const { store, decisionId } = context;
    const message: TaskMessage = { message_id, role: "user", parts };
    if (task_id === undefined) {
      const key_id = context.caller.keyId!;
      const held = opens && await findStartedTask(context, opens, key_id);
      if (held) {
        await noteCallEffects(store.asPlatform(), decisionId, { task_id: opens }, { held: true });
        return held; // it goes on by itself, as this was approved
      }
      const sent = { key_id, message_id, context_id, content: parts };
      const opened = opens ? { id: opens } : await findOpenedTask(context, sent);
      if ("task" in opened) return opened.task;
      const about = { id: opened.id, key_id, history: [message] };
      const fresh = newTask({ ...about, ...(context_id ? { context_id } : {}) });
      await noteCallEffects(store.asPlatform(), decisionId, { task_id: fresh.id });
      return await beginTask(context, fresh, undefined, decisionId);
    }
    const task = await ownTask(context, task_id);
    if (context_id !== undefined && context_id !== task.context_id) {
      const msg = `Task ${task_id} is of another context than ${context_id}`;
      throw new InvalidInput([{ path: ["contextId"], msg, type: "value_error" }]);
    }
    const before = task.history.find((said) => said.message_id === message_id);
    if (before && isDeepStrictEqual(before, message)) return task;
    if (before) {
      const msg = `Message ${message_id} was said in task ${task_id} already, in other words`;
      throw new InvalidInput([{ path: ["messageId"], msg, type: "value_error" }]);
    }
    refuseEnded(task);
    const handle = (await context.temporal()).workflow.getHandle(taskWorkflowId(task_id));
    await noteCallEffects(store.asPlatform(), decisionId, { task_id });
    return await mapTemporalErrors(
      handle.executeUpdate(sayUpdate, { args: [message], updateId: decisionId }),
      () => new Problem("Conflict", `Task ${task_id} has ended; start another`),
    );
  },
});

/** Ends an open task. */
export const cancelTask = operation({
  name: "a2a.cancel",
  group: "platform",
  summary: "Cancel an open task",
  effect: "run",
  access: "key",
  input: z.object({ task_id: Id }),
  output: Task,
  tool: { [CANCEL]: FULL },
  errors: ["NotFound", "Conflict", "Unavailable"],
  example: { input: { task_id: example.id }, output: { ...example, state: "canceled" } },
  recover: recoverTaskCall,
  run: async ({ task_id }, context) => {
    const { store, decisionId } = context;
    const task = await ownTask(context, task_id);
    refuseEnded(task);
    const handle = (await context.temporal()).workflow.getHandle(taskWorkflowId(task_id));
    await noteCallEffects(store.asPlatform(), decisionId, { task_id });
    const ended = await mapTemporalErrors(
      handle.executeUpdate(cancelUpdate, { updateId: decisionId }),
      () => new Problem("Conflict", `Task ${task_id} has ended`),
    );
    if (ended.state !== "canceled") refuseEnded(ended); // it came too late
    return ended;
  },
});

async function ownTask({ store, caller }: Context, id: string): Promise<TaskRecord> {
  const task = await getTask<TaskRecord>(store.asPlatform(), id, caller.keyId!);
  if (!task) throw new Problem("NotFound", `Task not found: ${id}`);
  return task;
}

function refuseEnded({ id, state }: TaskRecord): void {
  if (TERMINAL_STATES.has(state)) throw new Problem("Conflict", `Task ${id} has ended: ${state}`);
}
