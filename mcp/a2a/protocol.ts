/**
 * The A2A protocol, as its SDK speaks it: 0.3 by its compatibility layer, and 1.0. Besides its neighbours in this folder
 * nothing of the house imports it.
 */
import { randomUUID } from "node:crypto";
import {
  PushNotificationNotSupportedError,
  TaskNotFoundError,
  toJsonRpcError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import type { TaskRecord } from "../../domain/mod.ts";
import type { AgentCard, Message, SendMessageRequest, StreamResponse, Task } from "@a2a-js/sdk";
import { LegacyJsonRpcTransportHandler } from "@a2a-js/sdk/compat/v0_3/server";
import { JsonRpcTransportHandler, ServerCallContext } from "@a2a-js/sdk/server";
import { Problem, createTimeoutSignal } from "../../contract/mod.ts";
import type { Answers, Given, SkillResult } from "./answers.ts";
import type { Envelope } from "./envelope.ts";
import { errorOf, invalid, toldAs } from "./errors.ts";
import { saidOf, skillOf } from "./messages.ts";
import { changesOf, replyOf, stateOf, taskOf } from "./shapes.ts";

/** The requests of one key, and what the agent says of itself to it. */
export interface Answering extends Answers {
  readonly card: AgentCard;
}

/** Longest that a client who wants to wait is kept waiting, milliseconds. */
const BLOCKING_MS = 50_000;
/** Most tasks of a page. */
const MOST_LISTED = 100;

/** Answers one request. @param current whether it is of protocol 1.0 */
export async function answer(
  body: Record<string, unknown>,
  answers: Answering,
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

function handlerOf(answers: Answering, current: boolean): Handler {
  const mended = <T>(work: Promise<T>, of: Parameters<typeof errorOf>[1] = {}) =>
    work.catch((error) => {
      throw errorOf(error, of, answers);
    });

  async function sendMessage(request: SendMessageRequest): Promise<Message | Task> {
    const given = await begun(request);
    if ("reply" in given) return replied(request, given.reply);
    const history = request.configuration?.historyLength;
    const atOnce = request.configuration?.returnImmediately ?? !current; // in 1.0 it waits by default
    if (atOnce) return taskOf(given.task, history);
    const task = await settled(given.task);
    const metadata = { ...given.task.metadata, ...task.metadata };
    return taskOf({ ...task, metadata }, history);
  }

  async function begun(request: SendMessageRequest): Promise<Given> {
    const call = skillOf(request, answers.has);
    if (call) return await mended(answers.call(call));
    const said = saidOf(request);
    return await mended(answers.say(said), { task: said.task_id });
  }

  function replied({ message }: SendMessageRequest, reply: SkillResult): Message {
    const { parts, metadata, error, taskId } = reply;
    if (error) throw toldAs(error, metadata);
    const contextId = message!.contextId || randomUUID();
    return replyOf(parts, { messageId: randomUUID(), contextId, taskId, metadata });
  }

  /** The task, when it has ended or waits; as it is, where that takes too long. */
  async function settled(task: TaskRecord): Promise<TaskRecord> {
    const late = createTimeoutSignal(BLOCKING_MS);
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
    const given = await begun(request);
    if ("reply" in given) {
      return yield { payload: { $case: "message", value: replied(request, given.reply) } };
    }
    const { task } = given;
    yield { payload: { $case: "task", value: taskOf(task) } };
    if (task.state === "input-required") return;
    for await (const next of answers.follow(task.id, task.version + 1)) {
      yield* changesOf(next);
      if (next.state === "input-required") return;
    }
  }

  const noPush = (method: string) => async () => {
    const why = new Problem("NotFound", "They are not sent");
    await mended(answers.unserved(`tasks/pushNotificationConfig/${method}`, why));
    throw new PushNotificationNotSupportedError();
  };
  const own = () => Promise.resolve(answers.card);
  return {
    getAgentCard: own,
    getAuthenticatedExtendedAgentCard: own,
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
      const task = await mended(answers.join(id));
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
    createTaskPushNotificationConfig: noPush("set"),
    getTaskPushNotificationConfig: noPush("get"),
    listTaskPushNotificationConfigs: noPush("list"),
    deleteTaskPushNotificationConfig: noPush("delete"),
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
