/** The A2A protocol, as its SDK speaks it: 0.3 by its compatibility layer, and 1.0. */
import { randomUUID } from "node:crypto";
import type { Message, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import {
  PushNotificationNotSupportedError,
  TaskNotFoundError,
  toJsonRpcError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { createTimeoutSignal, Problem } from "../../contract/mod.ts";
import { type TaskRecord, TERMINAL_STATES } from "../../contract/domain/mod.ts";
import type { AgentCard } from "./card.ts";
import { type ErrorContext, invalidParams, skillError, toProtocolError } from "./errors.ts";
import type { A2aHandlers, MessageResult, Reply } from "./handlers.ts";
import { parseConversationMessage, parseSkillCall } from "./messages.ts";
import type { A2aRequest, Envelope, Version } from "./request.ts";
import { createAgentMessage, parseState, toEvents, toTask } from "./task_shapes.ts";

/** The parts that answer one request. */
export interface AnswerParts {
  readonly handlers: A2aHandlers;
  /** The card for the request's key. */
  readonly card: AgentCard;
  /** Called with a problem that the protocol has no error for. */
  report(problem: Problem): void;
}

/** Events of a streamed response. */
export type EventStream = AsyncGenerator<Envelope, void, undefined>;

/** Maximum time that a client waits for a task's end. */
const BLOCKING_MS = 50_000;
/** Maximum of tasks in a page. */
const MAX_PAGE_SIZE = 100;
const DEFAULT_PAGE_SIZE = 50;

/** Answers a request. */
export async function answerRequest(
  { version, ...body }: A2aRequest,
  parts: AnswerParts,
): Promise<Envelope | EventStream> {
  const context = new ServerCallContext({ requestedVersion: version });
  const handler = createSdkHandler(parts, version);
  if (version === "1.0") {
    return await new JsonRpcTransportHandler(handler).handle(body, context) as never;
  }
  const answer = await new LegacyJsonRpcTransportHandler(handler).handle(body as never, context);
  return Symbol.asyncIterator in answer
    ? withFinalEvents(answer as unknown as EventStream)
    : answer as unknown as Envelope;
}

/** Returns the first event of a stream, or the error response where it fails before that. */
export async function firstEvent(
  events: EventStream,
  id: unknown,
): Promise<{ readonly step: IteratorResult<Envelope, void> } | { readonly error: Envelope }> {
  try {
    return { step: await events.next() };
  } catch (error) {
    const { code, message } = toJsonRpcError(error);
    return { error: { jsonrpc: "2.0", id: id ?? null, error: { code, message } } };
  }
}

/** Marks the event `input-required` as final. The SDK marks only the task's end, although the agent waits as well. */
async function* withFinalEvents(events: EventStream): EventStream {
  for await (const event of events) {
    const result = event.result as { kind?: string; status?: { state?: string } } | undefined;
    const isWaiting = result?.kind === "status-update" && result.status?.state === "input-required";
    yield isWaiting ? { ...event, result: { ...result, final: true } } : event;
  }
}

type SdkHandler = ConstructorParameters<typeof JsonRpcTransportHandler>[0];

function createSdkHandler(parts: AnswerParts, version: Version): SdkHandler {
  const getCard = () => Promise.resolve(parts.card);
  return {
    getAgentCard: getCard,
    getAuthenticatedExtendedAgentCard: getCard,
    sendMessage: (request) => sendMessage(parts, version, request),
    sendMessageStream: (request) => streamMessage(parts, request),
    ...taskMethods(parts, version),
    ...pushMethods(parts),
  } as SdkHandler;
}

async function sendMessage(
  parts: AnswerParts,
  version: Version,
  request: SendMessageRequest,
): Promise<Message | Task> {
  const result = await handleMessage(parts, request);
  if ("reply" in result) return toMessage(request, result.reply);
  const { task } = result;
  const { historyLength, returnImmediately } = request.configuration ?? {};
  const isBlocking = !(returnImmediately ?? version === "0.3"); // 1.0 blocks by default
  if (!isBlocking) return toTask(task, historyLength);
  const last = await waitForTask(parts, task);
  return toTask({ ...last, metadata: { ...task.metadata, ...last.metadata } }, historyLength);
}

async function* streamMessage(
  parts: AnswerParts,
  request: SendMessageRequest,
): AsyncGenerator<StreamResponse, void, undefined> {
  const result = await handleMessage(parts, request);
  if ("reply" in result) {
    return yield { payload: { $case: "message", value: toMessage(request, result.reply) } };
  }
  const { task } = result;
  yield { payload: { $case: "task", value: toTask(task) } };
  if (task.state === "input-required") return;
  for await (const next of parts.handlers.followTask(task.id, task.version + 1)) {
    yield* toEvents(next);
    if (next.state === "input-required") return;
  }
}

async function handleMessage(
  parts: AnswerParts,
  request: SendMessageRequest,
): Promise<MessageResult> {
  const { handlers } = parts;
  const call = parseSkillCall(request, handlers.skills);
  if (call) return await withProtocolErrors(parts, handlers.callSkill(call));
  const message = parseConversationMessage(request);
  return await withProtocolErrors(parts, handlers.sendMessage(message), { task: message.task_id });
}

async function withProtocolErrors<T>(
  { report }: AnswerParts,
  result: Promise<T>,
  context: ErrorContext = {},
): Promise<T> {
  try {
    return await result;
  } catch (error) {
    throw toProtocolError(error, context, report);
  }
}

function toMessage({ message }: SendMessageRequest, reply: Reply): Message {
  const { parts, metadata, error, taskId } = reply;
  if (error) throw skillError(error, metadata);
  const contextId = message!.contextId || randomUUID();
  return createAgentMessage(parts, { messageId: randomUUID(), contextId, taskId, metadata });
}

/** Waits until a task has ended or needs input. @returns the task as it is, where that takes too long */
async function waitForTask({ handlers }: AnswerParts, task: TaskRecord): Promise<TaskRecord> {
  const timeout = createTimeoutSignal(BLOCKING_MS);
  let last = task;
  for await (const next of until(handlers.followTask(task.id, task.version), timeout)) {
    last = next;
    if (!["submitted", "working"].includes(next.state)) break;
  }
  return last;
}

/** Yields items until a signal is aborted. */
async function* until<T>(items: AsyncGenerator<T>, signal: AbortSignal) {
  const aborted = new Promise<undefined>((resolve) =>
    signal.addEventListener("abort", () => resolve(undefined), { once: true })
  );
  try {
    while (!signal.aborted) {
      const step = await Promise.race([items.next(), aborted]);
      if (!step || step.done) return;
      yield step.value;
    }
  } finally {
    void items.return(undefined);
  }
}

function taskMethods(parts: AnswerParts, version: Version): Partial<SdkHandler> {
  const { handlers } = parts;
  const find = async (id: string, task: Promise<TaskRecord | undefined>): Promise<TaskRecord> => {
    const found = await withProtocolErrors(parts, task);
    if (!found) throw new TaskNotFoundError(`Task not found: ${id}`);
    return found;
  };
  return {
    getTask: async ({ id, historyLength }) =>
      toTask(await find(id, handlers.getTask(id)), historyLength),
    cancelTask: async ({ id }) => {
      const context = { task: id, isCancel: true };
      return toTask(await withProtocolErrors(parts, handlers.cancelTask(id), context));
    },
    async *resubscribe({ id }): AsyncGenerator<StreamResponse, void, undefined> {
      const task = await find(id, handlers.joinTask(id));
      if (version === "1.0" && TERMINAL_STATES.has(task.state)) {
        throw new UnsupportedOperationError(`Task ${id} has ended`);
      }
      yield { payload: { $case: "task", value: toTask(task) } };
      for await (const next of handlers.followTask(id, task.version + 1)) yield* toEvents(next);
    },
    async listTasks({ contextId, status, pageSize, pageToken, historyLength }) {
      const offset = Number(pageToken || 0);
      if (!Number.isInteger(offset) || offset < 0) {
        throw invalidParams("pageToken is none of this server");
      }
      const limit = Math.min(pageSize || DEFAULT_PAGE_SIZE, MAX_PAGE_SIZE);
      const state = status ? parseState(status) : undefined;
      const page = { limit, offset, ...(contextId && { contextId }), ...(state && { state }) };
      const { total, tasks } = await withProtocolErrors(parts, handlers.listTasks(page));
      const next = offset + tasks.length;
      return {
        tasks: tasks.map((task) => toTask(task, historyLength ?? 0)),
        nextPageToken: next < total ? String(next) : "",
        pageSize: limit,
        totalSize: total,
      };
    },
  };
}

/** The methods of push notifications, which are not supported. */
function pushMethods(parts: AnswerParts): Partial<SdkHandler> {
  const refuse = (method: string) => async () => {
    const problem = new Problem("NotFound", "They are not sent");
    const name = `tasks/pushNotificationConfig/${method}`;
    await withProtocolErrors(parts, parts.handlers.sealRefusal(name, problem));
    throw new PushNotificationNotSupportedError();
  };
  return {
    createTaskPushNotificationConfig: refuse("set"),
    getTaskPushNotificationConfig: refuse("get"),
    listTaskPushNotificationConfigs: refuse("list"),
    deleteTaskPushNotificationConfig: refuse("delete"),
  };
}
