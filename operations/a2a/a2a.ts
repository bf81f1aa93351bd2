import { z } from "zod";
import { mapTemporalErrors, operation } from "../../calls/mod.ts";
import { startRun } from "../../calls/recover/mod.ts";
import {
  addMessage,
  type AgentMessage,
  checkMessage,
  messageHash,
  recoverTaskCall,
  taskWorkflowId,
} from "./tasks/mod.ts";
import { InvalidInput } from "../../contract/mod.ts";
import { TASK_QUEUE, WORKFLOW } from "../../contract/domain/mod.ts";
import { EXAMPLE_RUN_ID, Timestamp } from "../schemas/mod.ts";

const Id = z.string().min(1).max(200);
const A2aMessage = z.object({
  messageId: Id.describe("Chosen by the sender; unique within a task"),
  role: z.literal("user").default("user"),
  parts: z.array(z.discriminatedUnion("kind", [
    z.object({ kind: z.literal("text"), text: z.string().min(1) }),
    z.object({ kind: z.literal("data"), data: z.record(z.string(), z.unknown()) }),
  ])).min(1).max(20),
  taskId: Id.optional().describe("Id of an open task that the message continues"),
  contextId: Id.optional(),
});

const MAX_INCIDENT_LENGTH = 8_000;

const exampleMessage = {
  messageId: "m-1",
  role: "user",
  parts: [{ kind: "text", text: "billing is down" }],
};

/** Health of the endpoints below. */
export const a2aHealth = operation({
  name: "a2a.health",
  group: "sealing",
  summary: "Check whether messages of other agents are accepted",
  effect: "read",
  access: "public",
  input: z.object({}),
  output: z.object({
    status: z.enum(["ok", "not_configured"]).describe(
      "not_configured: SEALOOP_A2A_TOKEN is not set, so receive and dispatch answer 503",
    ),
    timestamp: Timestamp,
  }),
  rest: { a2a_health: "GET /api/v1/a2a/health" },
  governance: { limits: { counted: false } },
  example: { input: {}, output: { status: "ok", timestamp: "2026-07-01T12:00:00.000Z" } },
  run: (_, { config: { settings } }) =>
    Promise.resolve({
      status: settings.SEALOOP_A2A_TOKEN ? "ok" as const : "not_configured" as const,
      timestamp: new Date().toISOString(),
    }),
});

/** Receives a message of another agent over REST. */
export const receiveMessage = operation({
  name: "a2a.receive",
  group: "sealing",
  summary: "Receive a message of another agent, as a new or continued task",
  description:
    "Needs the shared token in the header `x-a2a-token`. The message opens a task of the reasoning pipeline, or continues " +
    "one; the answer of the pipeline is the result of the task's workflow. The A2A protocol itself is at `/a2a` of the " +
    "tool server, where agents with a key of their own read, follow and cancel tasks.",
  effect: "run",
  access: "token",
  input: A2aMessage,
  output: z.object({
    task_id: z.string(),
    context_id: z.string(),
    state: z.string().describe("submitted; working where the message continues a task"),
    workflow_id: z.string(),
    run_id: z.string(),
  }),
  rest: { a2a_receive: "POST /api/v1/a2a/receive" },
  presentation: { errors: ["NotFound", "Conflict", "NotConfigured", "Unavailable"], status: 202 },
  governance: {
    rule: "key-decides",
    check: (message, context) => checkMessage(context, toAgentMessage(message)),
  },
  durability: { recover: recoverTaskCall },
  example: {
    input: exampleMessage,
    output: {
      task_id: "0b6a5b1e-7a59-4c0e-9d0f-0f6b1f1c2d3e",
      context_id: "5b0c7c3e-30c5-4b6e-8f0c-0c6c5d4b3a29",
      state: "submitted",
      workflow_id: "a2a-0b6a5b1e-7a59-4c0e-9d0f-0f6b1f1c2d3e",
      run_id: EXAMPLE_RUN_ID,
    },
  },
  run: async (message, context) => {
    const { id, context_id, state } = await addMessage(context, toAgentMessage(message));
    const workflow_id = taskWorkflowId(id);
    const handle = (await context.temporal()).workflow.getHandle(workflow_id);
    const { runId } = await mapTemporalErrors(handle.describe());
    return { task_id: id, context_id, state, workflow_id, run_id: runId };
  },
});

function toAgentMessage(
  { messageId, parts, taskId, contextId }: z.output<typeof A2aMessage>,
): AgentMessage {
  return {
    message_id: messageId,
    task_id: taskId,
    context_id: contextId,
    parts: parts.map((part) => part.kind === "text" ? { text: part.text } : { data: part.data }),
  };
}

/** Starts the crew with a message of another agent. A message that is sent again joins the same run. */
export const dispatchMessage = operation({
  name: "a2a.dispatch",
  group: "sealing",
  summary: "Have six agents diagnose an incident that another agent reports",
  description:
    "Needs the shared token in the header `x-a2a-token`. The diagnosis is the result of the workflow.",
  effect: "run",
  access: "token",
  input: A2aMessage,
  output: z.object({ workflow_id: z.string(), run_id: z.string() }),
  rest: { a2a_dispatch: "POST /api/v1/a2a/dispatch" },
  presentation: { errors: ["NotConfigured", "Unavailable"], status: 202 },
  governance: {
    rule: "key-decides",
    check({ parts }) {
      incidentOf(parts);
      return Promise.resolve();
    },
  },
  durability: { startsRun: "ids" },
  example: {
    input: exampleMessage,
    output: { workflow_id: "crew-5f0c21ab9d3e4820", run_id: EXAMPLE_RUN_ID },
  },
  run: async ({ messageId, contextId, parts }, context) => {
    const keyId = context.caller.keyId!;
    const incident = incidentOf(parts);
    const hash = await messageHash(context, {
      key_id: keyId,
      message_id: messageId,
      context_id: contextId,
      content: parts,
    });
    const { workflowId, firstExecutionRunId } = await startRun(context, WORKFLOW.crew, {
      taskQueue: TASK_QUEUE.itsm,
      workflowId: `crew-${hash.toString("hex", 0, 8)}`,
      args: [{
        incident: incident.slice(0, MAX_INCIDENT_LENGTH),
        requested_by: `key:${keyId}`,
      }],
      staticSummary: "Incident that another agent reports",
    });
    return { workflow_id: workflowId, run_id: firstExecutionRunId };
  },
});

/** Returns the text of a message. @throws {InvalidInput} it has none */
function incidentOf(parts: z.output<typeof A2aMessage>["parts"]): string {
  const texts = parts.flatMap((part) => part.kind === "text" ? [part.text] : []);
  if (texts.length > 0) return texts.join("\n");
  const msg = "Expected a text part that describes the incident";
  throw new InvalidInput([{ path: ["parts"], msg, type: "value_error" }]);
}
