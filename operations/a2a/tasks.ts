import { z } from "zod";
import { operation } from "../../calls/mod.ts";
import {
  addMessage,
  cancelOpenTask,
  checkMessage,
  checkOpenTask,
  newTask,
  recoverTaskCall,
} from "./tasks/mod.ts";
import { MAX_CHARACTERS, type TaskRecord } from "../../contract/domain/mod.ts";
import { FULL } from "../scopes.ts";

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

/** Adds a message of an agent to a new or an open task. Only A2A calls it, so it is not in the list of operations. */
export const sendMessage = operation({
  name: "a2a.message",
  group: "platform",
  summary: "Send a message to the reasoning pipeline, as a task",
  effect: "run",
  access: "key",
  input: z.object({
    message_id: Id.describe("Chosen by the agent; sending it again changes nothing more"),
    task_id: Id.optional().describe("Open task that the message continues; default: a new one"),
    opens: z.uuid().optional().describe(
      "Id of the new task; default: one derived from the message",
    ),
    context_id: Id.optional(),
    parts: z.array(Part).min(1).max(20)
      .refine((parts) => JSON.stringify(parts).length < MAX_CHARACTERS, {
        message: `Expected at most ${MAX_CHARACTERS} characters`,
      }),
  }),
  output: Task,
  tool: { invoke_reasoning_pipeline: FULL }, // a message needs the same scope as a call of that tool
  presentation: { errors: ["NotFound", "Conflict", "TooLarge", "Unavailable"] },
  governance: {
    rule: "sandbox-and-judgement",
    check: (message, context) => checkMessage(context, message),
  },
  durability: { recover: recoverTaskCall },
  example: { input: { message_id: "m1", parts: [{ text: "billing is down" }] }, output: example },
  run: (message, context) => addMessage(context, message),
});

/** Cancels an open task. Only A2A calls it, under the protocol's own name. */
export const cancelTask = operation({
  name: "a2a.cancel",
  group: "platform",
  summary: "Cancel an open task",
  effect: "run",
  access: "key",
  input: z.object({ task_id: Id }),
  output: Task,
  tool: { "tasks/cancel": FULL },
  presentation: { errors: ["NotFound", "Conflict", "Unavailable"] },
  governance: {
    rule: "sandbox-and-judgement",
    check: ({ task_id }, context) => checkOpenTask(context, task_id),
  },
  durability: { recover: recoverTaskCall },
  example: { input: { task_id: example.id }, output: { ...example, state: "canceled" } },
  run: ({ task_id }, context) => cancelOpenTask(context, task_id),
});
