/**
 * The A2A protocol, as its SDK speaks it: 0.3 by its compatibility layer, and 1.0. Besides the card and the shapes
 * nothing else of the house imports it.
 */
import { randomUUID } from "node:crypto";
import { type Message, type SendMessageRequest, type StreamResponse, type Task } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import {
  ContentTypeNotSupportedError,
  ExtendedAgentCardNotConfiguredError,
  JsonRpcTransportError,
  PushNotificationNotSupportedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  toJsonRpcError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { asProblem, type Problem } from "../../contract/mod.ts";
import type { TaskPart, TaskRecord } from "../../operations/mod.ts";
import { type AgentCard } from "@a2a-js/sdk";
import { MODES } from "./card.ts";
import { changesOf, replyOf, stateOf, taskOf } from "./shapes.ts";

/** What a message asks for. */
export interface Said {
  readonly message_id: string;
  readonly task_id?: string;
  readonly context_id?: string;
  readonly parts: readonly TaskPart[];
  /** Asked for in the message's metadata. */
  readonly dryRun: boolean;
}

/** A call of a tool that a message asks for. */
export interface SkillCall {
  readonly skill: string;
  readonly input: unknown;
  readonly dryRun: boolean;
}

/** What a skill gave. */
export interface SkillResult {
  readonly parts: readonly TaskPart[];
  readonly metadata: Record<string, unknown> | undefined;
  /** Told instead, where it did not do what was asked; one of the table of errors. */
  readonly error?: { readonly name: string; readonly message: string };
}

/** What answers the requests of one key. */
export interface Answers {
  say(said: Said): Promise<TaskRecord>;
  cancel(id: string): Promise<TaskRecord>;
  get(id: string): Promise<TaskRecord | undefined>;
  list(
    page: { contextId?: string; state?: string; limit: number; offset: number },
  ): Promise<{ total: number; tasks: TaskRecord[] }>;
  follow(id: string, least: number): AsyncGenerator<TaskRecord, void, undefined>;
  /** Whether there is a tool of that name. */
  has(skill: string): boolean;
  call(call: SkillCall, progress?: (message: string) => void): Promise<SkillResult>;
  /** Told of what HTTP has a status of its own for, and of what is the service's own fault. */
  refused(problem: Problem): void;
  readonly card: AgentCard;
}

/** Governance let nothing be begun: it asks people first, or the asker only wanted to know what it would decide. */
export class InsteadOfTask extends Error {
  override readonly name = "InsteadOfTask";
  constructor(readonly output: Record<string, unknown>) {
    super("Governance holds this message");
  }
}

/** An envelope of JSON-RPC. */
export type Envelope = Record<string, unknown>;

/** Longest that a client who wants to wait is kept waiting, milliseconds. */
const BLOCKING_MS = 30_000;
/** Most tasks of a page. */
const MOST_LISTED = 100;

/** Answers one request. @param current whether it is of protocol 1.0 */
export async function answer(
  body: Record<string, unknown>,
  answers: Answers,
  current: boolean,
): Promise<Envelope | AsyncGenerator<Envelope, void, undefined>> {
  const context = new ServerCallContext({ requestedVersion: current ? "1.0" : "0.3" });
  const handler = handlerOf(answers, current);
  const given = current
    ? await new JsonRpcTransportHandler(handler).handle(body, context)
    : await new LegacyJsonRpcTransportHandler(handler).handle(body as never, context);
  if (!(Symbol.asyncIterator in given)) return given as unknown as Envelope;
  const events = given as unknown as AsyncGenerator<Envelope, void, undefined>;
  return current ? events : withEnds(events);
}

/** The first event of a stream; or, where it failed before that, the answer in its place. */
export async function firstOf(
  events: AsyncGenerator<Envelope, void, undefined>,
  id: unknown,
): Promise<{ readonly step: IteratorResult<Envelope, void> } | { readonly failed: Envelope }> {
  try {
    return { step: await events.next() };
  } catch (error) {
    const { code, message } = toJsonRpcError(error);
    return { failed: { jsonrpc: "2.0", id: id ?? null, error: { code, message } } };
  }
}

/** Marks the end of a stream at a state in which the agent waits, too, which the SDK does not. */
async function* withEnds(events: AsyncGenerator<Envelope, void, undefined>) {
  for await (const event of events) {
    const result = event.result as { kind?: string; status?: { state?: string } } | undefined;
    const waits = result?.kind === "status-update" && result.status?.state === "input-required";
    yield waits ? { ...event, result: { ...result, final: true } } : event;
  }
}

type Handler = ConstructorParameters<typeof JsonRpcTransportHandler>[0];

function handlerOf(answers: Answers, current: boolean): Handler {
  const mended = <T>(work: Promise<T>, of: Parameters<typeof errorOf>[1] = {}) =>
    work.catch((error) => {
      throw errorOf(error, of, answers);
    });

  async function sendMessage(request: SendMessageRequest): Promise<Message | Task> {
    const call = skillOf(request, answers);
    if (call) return await reply(request, call);
    const task = await begun(request);
    if ("parts" in task) return task;
    const history = request.configuration?.historyLength;
    const atOnce = request.configuration?.returnImmediately ?? !current; // in 1.0 it waits by default
    if (atOnce) return taskOf(task, history);
    return taskOf(await settled(task), history);
  }

  async function begun(request: SendMessageRequest): Promise<TaskRecord | Message> {
    const said = saidOf(request);
    try {
      return await answers.say(said);
    } catch (error) {
      if (!(error instanceof InsteadOfTask)) throw errorOf(error, { task: said.task_id }, answers);
      const contextId = said.context_id ?? randomUUID();
      return replyOf([{ data: error.output }], {
        ...{ messageId: randomUUID(), contextId, metadata: undefined },
      });
    }
  }

  async function reply(request: SendMessageRequest, call: SkillCall): Promise<Message> {
    const { parts, metadata, error } = await mended(answers.call(call));
    if (error) throw toldAs(error, metadata);
    const contextId = request.message!.contextId || randomUUID();
    return replyOf(parts, { messageId: randomUUID(), contextId, metadata });
  }

  /** The task, when it has ended or waits; as it is, where that takes too long. */
  async function settled(task: TaskRecord): Promise<TaskRecord> {
    const late = AbortSignal.timeout(BLOCKING_MS);
    let last = task;
    for await (const next of until(answers.follow(task.id, task.version), late)) {
      last = next;
      if (!["submitted", "working"].includes(next.state)) break;
    }
    return last;
  }

  async function* sendMessageStream(
    request: SendMessageRequest,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    const call = skillOf(request, answers);
    if (call) {
      const value = await reply(request, call);
      return yield { payload: { $case: "message", value } };
    }
    const task = await begun(request);
    if ("parts" in task) return yield { payload: { $case: "message", value: task } };
    yield { payload: { $case: "task", value: taskOf(task) } };
    for await (const next of answers.follow(task.id, task.version + 1)) {
      yield* changesOf(next);
      if (next.state === "input-required") return;
    }
  }

  const unsupported = () => Promise.reject(new PushNotificationNotSupportedError());
  return {
    getAgentCard: () => Promise.resolve(answers.card),
    getAuthenticatedExtendedAgentCard: () =>
      Promise.reject(new ExtendedAgentCardNotConfiguredError()),
    sendMessage,
    sendMessageStream,
    async getTask({ id, historyLength }) {
      const task = await mended(answers.get(id));
      if (!task) throw new TaskNotFoundError(`Task not found: ${id}`);
      return taskOf(task, historyLength);
    },
    cancelTask: async ({ id }) =>
      taskOf(await mended(answers.cancel(id), { task: id, cancel: true })),
    async *resubscribe({ id }): AsyncGenerator<StreamResponse, void, undefined> {
      const task = await mended(answers.get(id));
      if (!task) throw new TaskNotFoundError(`Task not found: ${id}`);
      if (current && isEnd(task)) throw new UnsupportedOperationError(`Task ${id} has ended`);
      yield { payload: { $case: "task", value: taskOf(task) } };
      for await (const next of answers.follow(id, task.version + 1)) yield* changesOf(next);
    },
    async listTasks({ contextId, status, pageSize, pageToken, historyLength }) {
      const offset = Number(pageToken || 0);
      const limit = Math.min(pageSize || 50, MOST_LISTED);
      if (!Number.isInteger(offset) || offset < 0) {
        throw invalid("pageToken is none of this server");
      }
      const state = status ? stateOf(status) : undefined;
      const { total, tasks } = await mended(answers.list({
        ...(contextId ? { contextId } : {}),
        ...(state ? { state } : {}),
        limit,
        offset,
      }));
      const next = offset + tasks.length;
      return {
        tasks: tasks.map((task) => taskOf(task, historyLength ?? 0)),
        nextPageToken: next < total ? String(next) : "",
        pageSize: limit,
        totalSize: total,
      };
    },
    createTaskPushNotificationConfig: unsupported,
    getTaskPushNotificationConfig: unsupported,
    listTaskPushNotificationConfigs: unsupported,
    deleteTaskPushNotificationConfig: unsupported,
  } as Handler;
}

const isEnd = ({ state }: TaskRecord) =>
  ["completed", "canceled", "failed", "rejected"].includes(state);

async function* until<T>(items: AsyncGenerator<T>, late: AbortSignal) {
  const ended = new Promise<undefined>((resolve) =>
    late.addEventListener("abort", () => resolve(undefined), { once: true })
  );
  try {
    while (!late.aborted) {
      const step = await Promise.race([items.next(), ended]);
      if (!step || step.done) return;
      yield step.value;
    }
  } finally {
    void items.return(undefined);
  }
}

/** The parts of a message that are understood here. @throws no media type that is */
function partsOf({ message, configuration }: SendMessageRequest): TaskPart[] {
  const wanted = configuration?.acceptedOutputModes ?? [];
  if (wanted.length > 0 && !wanted.some(isGiven)) {
    throw contentType(`answers are ${MODES.join(" or ")}, and none of ${wanted.join(", ")}`);
  }
  if (configuration?.taskPushNotificationConfig) throw new PushNotificationNotSupportedError();
  return (message?.parts ?? []).map(({ content }) => {
    if (content?.$case === "text") return { text: content.value };
    if (content?.$case !== "data") {
      throw contentType("files are not taken, only text and data parts");
    }
    if (
      typeof content.value !== "object" || content.value === null || Array.isArray(content.value)
    ) {
      throw invalid("The data of a part has to be an object");
    }
    return { data: content.value as Record<string, unknown> };
  });
}

const isGiven = (mode: string) =>
  mode === "text" ||
  MODES.some((ours) => mode === ours || mode === "*/*" || mode === `${ours.split("/")[0]}/*`);

const contentType = (why: string) =>
  new ContentTypeNotSupportedError(`Incompatible content types, not supported: ${why}`);

function saidOf(request: SendMessageRequest): Said {
  const { message } = request;
  const parts = partsOf(request);
  if (!message?.messageId) throw invalid("message.messageId is required");
  if (parts.length === 0) throw invalid("message.parts must not be empty");
  return {
    message_id: message.messageId,
    ...(message.taskId ? { task_id: message.taskId } : {}),
    ...(message.contextId ? { context_id: message.contextId } : {}),
    parts,
    dryRun: wantsDryRun(request),
  };
}

/** Under the name that MCP has it under, in the message's metadata or the request's. */
const wantsDryRun = ({ message, metadata }: SendMessageRequest) =>
  [message?.metadata, metadata].some((given) => given?.["sealoop/dry_run"] === true);

/** The one call of a skill in a message; undefined: it is a conversation. */
function skillOf(request: SendMessageRequest, answers: Answers): SkillCall | undefined {
  const calls = partsOf(request).flatMap((part) =>
    "data" in part && part.data.skill !== undefined ? [part.data] : []
  );
  if (calls.length === 0) return undefined;
  const { skill, arguments: input } = calls[0]!;
  if (calls.length > 1) throw invalid("A message calls one skill at most; send several messages");
  if (typeof skill !== "string" || !answers.has(skill)) {
    throw invalid(`There is no skill ${skill}; the agent card lists them`);
  }
  if (request.message?.taskId) throw invalid("A skill is called by itself, and not in a task");
  return { skill, input: input ?? {}, dryRun: wantsDryRun(request) };
}

/** Codes of JSON-RPC; what has none of its own is the first that servers may give a meaning. */
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const REFUSED = -32000;

const invalid = (message: string) => coded(INVALID_PARAMS, message);

function coded(code: number, message: string, data?: Record<string, unknown>): Error {
  return new JsonRpcTransportError({
    jsonrpc: "2.0",
    id: null,
    error: { code, message, ...(data ? { data } : {}) },
  });
}

function toldAs(
  { name, message }: { name: string; message: string },
  data: SkillResult["metadata"],
) {
  const code = name === "InvalidInput" ? INVALID_PARAMS : name === "Internal" ? INTERNAL : REFUSED;
  return coded(code, message, data);
}

/** What an error is in the protocol. @param of the task that was asked for, and whether to cancel it */
function errorOf(
  error: unknown,
  of: { readonly task?: string | undefined; readonly cancel?: boolean },
  { refused }: Answers,
): unknown {
  const problem = asProblem(error);
  const { name, message, rule, receiptId } = problem;
  if (of.task !== undefined && name === "NotFound") return new TaskNotFoundError(message);
  if (of.task !== undefined && name === "Conflict") {
    return of.cancel
      ? new TaskNotCancelableError(`Task cannot be canceled: ${message}`)
      : new UnsupportedOperationError(`This operation is not supported: ${message}`);
  }
  refused(problem);
  const data = { error: name, next: rule.next, ...(receiptId ? { receipt_id: receiptId } : {}) };
  return toldAs(
    { name, message: name === "Internal" ? "The service failed to do this" : message },
    data,
  );
}
