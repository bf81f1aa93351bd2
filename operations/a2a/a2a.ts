import { z } from "zod";
import { TASK_QUEUE, WORKFLOW } from "../../domain/mod.ts";
import { InvalidInput } from "../../contract/mod.ts";
import { sayInTask } from "./tasks.ts";
import { Timestamp } from "../_shapes.ts";
import { recoverBegun, recoverMarked, startOrJoin } from "../../calls/recover/mod.ts";
import { messageHash } from "../../calls/tasks/mod.ts";
import { mapTemporalErrors, operation } from "../../calls/mod.ts";

const group = "sealing";
const Id = z.string().min(1).max(200);

const A2AMessage = z.object({
  messageId: Id.describe("Of the sender's choice; within a task each only once"),
  role: z.literal("user").default("user"),
  parts: z.array(z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("text"), text: z.string().min(1) }),
    z.object({ kind: z.literal("data"), data: z.record(z.string(), z.unknown()) }),
  ])).min(1).max(20),
  taskId: Id.optional().describe("Of an open task that this goes on with"),
  contextId: Id.optional(),
});

const exampleMessage = {
  messageId: "m-1",
  role: "user" as const,
  parts: [{ kind: "text" as const, text: "billing is down" }],
};

/** Tells whether other agents can reach the platform here. */
export const a2aHealth = operation({
  name: "a2a.health",
  group,
  summary: "Tell whether messages of other agents are taken here",
  effect: "read",
  access: "public",
  counted: false,
  input: z.object({}),
  output: z.object({
    status: z.enum(["ok", "not_configured"]).describe(
      "not_configured: SEALOOP_A2A_TOKEN is not set, so receive and dispatch take nothing",
    ),
    timestamp: Timestamp,
  }),
  rest: { a2a_health: "GET /api/v1/a2a/health" },
  example: { input: {}, output: { status: "ok", timestamp: "2026-07-01T12:00:00.000Z" } },
  run: (_, { config: { settings } }) =>
    Promise.resolve({
      status: settings.SEALOOP_A2A_TOKEN ? "ok" as const : "not_configured" as const,
      timestamp: new Date().toISOString(),
    }),
});

/** Takes a message of another agent over REST. */
export const a2aReceive = operation({
  name: "a2a.receive",
  group,
  summary:
    "Take a message of another agent: it becomes a task of the reasoning pipeline, or goes on with one",
  description:
    "With the shared token in the header `x-a2a-token`. The protocol itself is at `/a2a` of the tool server, where the " +
    "task can be read, followed and cancelled by agents that have a key of their own; the answer to this one is the " +
    "result of its workflow.",
  effect: "run",
  access: "token",
  input: A2AMessage,
  output: z.object({
    task_id: z.string(),
    context_id: z.string(),
    state: z.string().describe("submitted, or working where it goes on with a task"),
    workflow_id: z.string(),
    run_id: z.string(),
  }),
  rest: { a2a_receive: "POST /api/v1/a2a/receive" },
  status: 202,
  errors: ["NotFound", "Conflict", "Unavailable"],
  example: {
    input: exampleMessage,
    output: {
      task_id: "0b6a5b1e-7a59-4c0e-9d0f-0f6b1f1c2d3e",
      context_id: "5b0c7c3e-30c5-4b6e-8f0c-0c6c5d4b3a29",
      state: "submitted",
      workflow_id: "a2a-0b6a5b1e-7a59-4c0e-9d0f-0f6b1f1c2d3e",
      run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
    },
  },
  recover: sayInTask.recover!,
  run: async ({ messageId, parts, taskId, contextId }, context) => {
    const task = await sayInTask.run({
      message_id: messageId,
      task_id: taskId,
      context_id: contextId,
      parts: parts.map((part) => part.kind === "text" ? { text: part.text } : { data: part.data }),
    }, context) as { id: string; context_id: string; state: string };
    const { id: task_id, context_id, state } = task;
    const workflow_id = `a2a-${task_id}`;
    const handle = (await context.temporal()).workflow.getHandle(workflow_id);
    const { runId: run_id } = await mapTemporalErrors(handle.describe());
    return { task_id, context_id, state, workflow_id, run_id };
  },
});

/** Hands a message of another agent to the crew. */
export const a2aDispatch = operation({
  name: "a2a.dispatch",
  group,
  summary: "Hand a message of another agent to the six agents that diagnose incidents",
  description:
    "With the shared token in the header `x-a2a-token`. The diagnosis is the result of the workflow.",
  effect: "run",
  access: "token",
  input: A2AMessage,
  output: z.object({ workflow_id: z.string(), run_id: z.string() }),
  rest: { a2a_dispatch: "POST /api/v1/a2a/dispatch" },
  status: 202,
  errors: ["InvalidInput", "Unavailable"],
  example: {
    input: exampleMessage,
    output: {
      workflow_id: "crew-5f0c21ab9d3e4820",
      run_id: "0198f1a2-7c44-7d3e-9a51-2f6c0e8b7d10",
    },
  },
  recover: (call, platform) => recoverMarked(platform, call, recoverBegun),
  run: async ({ messageId, contextId, parts }, context) => {
    const { caller } = context;
    const incident = parts.flatMap((part) => part.kind === "text" ? [part.text] : []).join("\n");
    if (incident === "") {
      const msg = "Say in a text part what is wrong";
      throw new InvalidInput([{ path: ["parts"], msg, type: "value_error" }]);
    }
    const sent = { key_id: caller.keyId!, message_id: messageId, context_id: contextId };
    const workflow_id = `crew-${messageHash({ ...sent, content: parts }).toString("hex", 0, 8)}`;
    // Who sends it again, as no answer was heard, joins it.
    const { firstExecutionRunId } = await startOrJoin(context, WORKFLOW.crew, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: workflow_id,
      args: [{ incident: incident.slice(0, 8_000), requested_by: `key:${caller.keyId}` }],
      staticSummary: "Incident that another agent hands over",
    });
    return { workflow_id, run_id: firstExecutionRunId };
  },
});
