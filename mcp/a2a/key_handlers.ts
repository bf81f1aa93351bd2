import { randomUUID } from "node:crypto";
import { newTask } from "../../operations/a2a/tasks/mod.ts";
import {
  type CallRequest,
  type CallResult,
  type Operation,
  outputValue,
} from "../../contract/mod.ts";
import type { TaskRecord } from "../../contract/domain/mod.ts";
import { earlierMeta, receiptMeta } from "../tool_call.ts";
import { heldCallOf, isGovernanceAnswer } from "./_held.ts";
import { createSealWork } from "./_seal.ts";
import {
  type A2aHandlerParts,
  type A2aHandlers,
  type ConversationMessage,
  HeldRequest,
  type MessageResult,
  type RequestSender,
} from "./handlers.ts";
import { makeTaskSafe } from "./safe_task.ts";
import { callSkill } from "./skill_call.ts";
import { createTaskOpener, type OpeningTasks } from "./task_opener.ts";

/** Creates the handlers of one key's requests. */
export function createKeyHandlers<C>(
  parts: A2aHandlerParts<C>,
  opening: OpeningTasks,
  sender: RequestSender,
): A2aHandlers {
  const { tools, tasks, makeSafe } = parts;
  const owner = sender.caller;
  const toSafe = (task: TaskRecord) => makeTaskSafe(task, owner.tenant, tools, makeSafe);
  const seal = createSealWork(parts.auth, sender.caller);
  const openOnce = createTaskOpener(parts, opening, sender.caller);

  async function readTask(method: string, id: string): Promise<TaskRecord | undefined> {
    const task = await seal(method, { id }, () => tasks.get(id, owner));
    return task && await toSafe(task);
  }

  return {
    skills: [...tools.keys()],
    async callSkill(call) {
      const { skill, input, dryRun, messageId, contextId } = call;
      const { operation } = tools.get(skill)!;
      const opensNoTask = operation.effect === "read" &&
        operation.durability?.longRunning === undefined;
      if (opensNoTask || dryRun) return await callSkill(parts, sender, call, randomUUID());
      const message = { message_id: messageId, context_id: contextId, content: { skill, input } };
      return await openOnce(message, (id) => callSkill(parts, sender, call, id));
    },
    async sendMessage(message) {
      const { message_id, context_id, task_id, parts: content, dryRun } = message;
      if (task_id !== undefined || dryRun) return await sendMessage(parts, sender, message);
      return await openOnce(
        { message_id, context_id, content },
        (id) => sendMessage(parts, sender, message, id),
      );
    },
    async cancelTask(task_id) {
      const result = await call(parts, sender, parts.cancelTask, "tasks/cancel", { task_id });
      const output = outputValue(result.output);
      if (isGovernanceAnswer(result)) throw new HeldRequest(output as Record<string, unknown>);
      const task = output as TaskRecord;
      const metadata = { ...task.metadata, ...earlierMeta(result.earlier) };
      return await toSafe({ ...task, metadata });
    },
    getTask: (id) => readTask("tasks/get", id),
    joinTask: (id) => readTask("tasks/resubscribe", id),
    async listTasks(page) {
      const list = await seal("tasks/list", page, () => tasks.list(owner, page));
      return { total: list.total, tasks: await Promise.all(list.tasks.map(toSafe)) };
    },
    async *followTask(id, minVersion) {
      for await (const task of tasks.follow(id, owner, minVersion, sender.signal)) {
        yield await toSafe(task);
      }
    },
    sealCardRequest: (method) => seal(method, {}, () => Promise.resolve()),
    async sealRefusal(method, problem) {
      await seal(method, {}, () => Promise.reject(problem)).catch((error) => {
        if (error !== problem) throw error;
      });
    },
  };
}

/** Sends a message of a conversation. @param opens id of the task that it opens */
async function sendMessage<C>(
  parts: A2aHandlerParts<C>,
  sender: RequestSender,
  { dryRun, idempotencyKey, ...message }: ConversationMessage,
  opens?: string,
): Promise<MessageResult> {
  const input = { ...message, ...(opens ? { opens } : {}) };
  const result = await call(
    parts,
    sender,
    parts.sendMessage,
    "invoke_reasoning_pipeline",
    input,
    { dryRun, idempotencyKey },
  );
  const held = heldCallOf(result);
  if (held && opens) {
    const { message_id, context_id } = message;
    const task = newTask({
      id: opens,
      key_id: sender.caller.keyId,
      history: [{ message_id, role: "user", parts: message.parts }],
      ...(context_id ? { context_id } : {}),
    });
    return { task: await parts.tasks.beginWaiting(task, held, sender.caller) };
  }
  const output = outputValue(result.output) as Record<string, unknown>;
  const metadata = {
    ...receiptMeta(result.receiptId),
    ...earlierMeta(result.earlier),
  };
  if (isGovernanceAnswer(result)) {
    return { reply: { parts: [{ data: output }], metadata, taskId: message.task_id } };
  }
  const task = { ...output as unknown as TaskRecord, metadata };
  return { task: await makeTaskSafe(task, sender.caller.tenant, parts.tools, parts.makeSafe) };
}

function call<C>(
  { invoke }: A2aHandlerParts<C>,
  { credential, requestId, address, signal }: RequestSender,
  operation: Operation<C>,
  name: string,
  input: unknown,
  marks: Pick<CallRequest, "dryRun" | "idempotencyKey"> = {},
): Promise<CallResult> {
  const request = { as: name, requestId, credential, address, input, signal, ...marks };
  return invoke(operation, { door: "a2a", ...request });
}
