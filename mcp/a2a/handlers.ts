/** Requests of one key over A2A, in terms of the platform. */
import type { ToolServerAuth } from "../../calls/mod.ts";
import type { TaskWatch } from "../../operations/a2a/tasks/mod.ts";
import type { Invoke, Operation, Problem, RequestMarks } from "../../contract/mod.ts";
import type { TaskPart, TaskRecord } from "../../contract/domain/mod.ts";
import type { Log } from "../../runtime/web/mod.ts";
import type { Sender } from "../auth.ts";
import type { Tools } from "../tools.ts";
import type { MakeSafe } from "../untrusted.ts";

/** A message of a conversation. */
export interface ConversationMessage extends RequestMarks {
  readonly message_id: string;
  readonly task_id?: string;
  readonly context_id?: string;
  readonly parts: readonly TaskPart[];
}

/** A message that calls a skill, which is a tool. */
export interface SkillCall extends RequestMarks {
  readonly skill: string;
  readonly input: unknown;
  readonly messageId: string;
  readonly contextId: string | undefined;
}

/** A reply that is no task. */
export interface Reply {
  readonly parts: readonly TaskPart[];
  readonly metadata: Record<string, unknown> | undefined;
  /** Set where the skill did not do what was asked; `name` is a kind in `ERRORS`. */
  readonly error?: { readonly name: string; readonly message: string };
  /** The task that the message belongs to. */
  readonly taskId?: string;
}

/** The result of a message. */
export type MessageResult = { readonly task: TaskRecord } | { readonly reply: Reply };

/** A page of a key's tasks. */
interface TaskPage {
  readonly contextId?: string;
  readonly state?: string;
  readonly limit: number;
  readonly offset: number;
}

/** Handles the requests of one key. Each is sealed. */
export interface A2aHandlers {
  readonly skills: readonly string[];
  callSkill(call: SkillCall): Promise<MessageResult>;
  sendMessage(message: ConversationMessage): Promise<MessageResult>;
  /** @throws {HeldRequest} governance asks people first */
  cancelTask(id: string): Promise<TaskRecord>;
  getTask(id: string): Promise<TaskRecord | undefined>;
  listTasks(page: TaskPage): Promise<{ total: number; tasks: TaskRecord[] }>;
  /** Returns a task to a client that is going to follow it. */
  joinTask(id: string): Promise<TaskRecord | undefined>;
  /** Yields a task's versions until it has ended. @param minVersion to begin with */
  followTask(id: string, minVersion: number): AsyncGenerator<TaskRecord, void, undefined>;
  /** Seals that the card was requested. @throws {Problem} it can't be sealed */
  sealCardRequest(method: string): Promise<void>;
  /** Seals a refused request. @throws {Problem} it can't be sealed */
  sealRefusal(method: string, problem: Problem): Promise<void>;
}

/** Governance holds a request, and nothing was done. */
export class HeldRequest extends Error {
  override readonly name = "HeldRequest";
  /** @param output governance's answer */
  constructor(readonly output: Record<string, unknown>) {
    super("Governance holds this request; data says whom it waits for");
  }
}

/** The tasks of A2A and the operations that create and cancel them. */
export interface TaskParts<C> {
  readonly tasks: TaskWatch;
  readonly sendMessage: Operation<C>;
  readonly cancelTask: Operation<C>;
}

/** The parts that handlers work with. */
export interface A2aHandlerParts<C> extends TaskParts<C> {
  readonly tools: Tools<C>;
  readonly invoke: Invoke<C>;
  readonly auth: ToolServerAuth;
  readonly log: Log;
  readonly makeSafe: MakeSafe;
}

/** The authenticated sender of one request. */
export interface RequestSender extends Sender {
  readonly requestId: string;
  readonly address: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}
