import { randomUUID } from "node:crypto";
import {
  type Invoke,
  type Operation,
  type CallResult,
  outputValue,
  Problem,
} from "../../contract/mod.ts";
import type { TaskPart, TaskRecord } from "../../domain/mod.ts";
import { cancelTask, sayInTask } from "../../operations/mod.ts";
import type { Log } from "../../web/mod.ts";
import type { Sender } from "../_caller.ts";
import { callTool, earlierMeta, receiptMeta } from "../call.ts";
import type { Tools } from "../tools.ts";
import type { FindInjection } from "../untrusted.ts";
import { presented } from "./presented.ts";
import { opening, type UnderWay } from "./sent.ts";
import type { AgentAction, ToolServerAuth } from "../../calls/mod.ts";
import { newTask, type PendingApproval, type TaskWatch } from "../../calls/tasks/mod.ts";

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
  readonly messageId: string;
  readonly contextId: string | undefined;
}

/** What a skill gave, or what is said in place of it. */
export interface SkillResult {
  readonly parts: readonly TaskPart[];
  readonly metadata: Record<string, unknown> | undefined;
  /** Told instead, where it did not do what was asked; one of the table of errors. */
  readonly error?: { readonly name: string; readonly message: string };
  /** Of which the message is. */
  readonly taskId?: string;
}

/** What a message comes to: a task, or an answer at once. */
export type Given = { readonly task: TaskRecord } | { readonly reply: SkillResult };

/** What answers the requests of one key. */
export interface Answers {
  say(said: Said): Promise<Given>;
  cancel(id: string): Promise<TaskRecord>;
  get(id: string): Promise<TaskRecord | undefined>;
  list(
    page: { contextId?: string; state?: string; limit: number; offset: number },
  ): Promise<{ total: number; tasks: TaskRecord[] }>;
  /** Gives a task as it is now, for one who wants to follow it. */
  join(id: string): Promise<TaskRecord | undefined>;
  follow(id: string, least: number): AsyncGenerator<TaskRecord, void, undefined>;
  /** Whether there is a tool of that name. */
  has(skill: string): boolean;
  call(call: SkillCall): Promise<Given>;
  /** Seals that the card was shown. @throws {Problem} it can't be sealed */
  shown(method: string): Promise<void>;
  /** Seals what is not served. @throws {Problem} it can't be sealed */
  unserved(method: string, why: Problem): Promise<void>;
  /** Told of what HTTP has a status of its own for, and of what is the service's own fault. */
  refused(problem: Problem): void;
}

/** Governance let nothing be done: it asks people first. */
export class InsteadOfTask extends Error {
  override readonly name = "InsteadOfTask";
  constructor(readonly output: Record<string, unknown>) {
    super("Governance holds this request; data says whom it waits for");
  }
}

/** What answers are made of. */
export interface AnswerParts<C> {
  readonly tools: Tools<C>;
  readonly invoke: Invoke<C>;
  readonly entrance: Pick<ToolServerAuth, "record" | "admit">;
  readonly tasks: TaskWatch;
  readonly underWay: UnderWay;
  readonly log: Log;
  /** Looks through what comes from outside. */
  readonly findInjection: FindInjection;
}

/** Whose request it is. */
export interface Asker extends Sender {
  readonly requestId: string;
  readonly address: string;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
}

/** Answers the requests of one key by the one way in, and by what it may see; each is sealed. */
export function answersFor<C>(
  parts: AnswerParts<C>,
  { caller, credential, requestId, address, signal }: Asker,
): Omit<Answers, "refused"> {
  const { tools, invoke, tasks, log, findInjection } = parts;
  const present = (task: TaskRecord) => presented(task, tools, findInjection);
  const act = (operation: unknown, as: string, input: unknown, dryRun = false) =>
    invoke(operation as Operation<C>, {
      ...{ door: "a2a" as const, as, requestId, credential, address, input, signal, dryRun },
    });
  const seal = sealing(parts, caller);
  const look = (method: string) => async (id: string) => {
    const task = await seal(method, { id }, () => tasks.get(id, caller.keyId));
    return task && present(task);
  };

  const once = opening(parts, caller);

  return {
    async say({ dryRun, ...said }) {
      if (said.task_id !== undefined || dryRun) return await say({ dryRun, ...said });
      const { message_id, context_id, parts: content } = said;
      return await once(
        { message_id, context_id, content },
        (opens) => say({ dryRun, ...said, opens }),
      );
    },
    async cancel(task_id) {
      const outcome = await act(cancelTask, "tasks/cancel", { task_id });
      const output = outputValue(outcome.output);
      if (isInstead(outcome)) throw new InsteadOfTask(output as Record<string, unknown>);
      const task = output as TaskRecord;
      const metadata = { ...task.metadata, ...earlierMeta(outcome.governance?.earlier) };
      return present({ ...task, metadata });
    },
    get: look("tasks/get"),
    join: look("tasks/resubscribe"),
    async list(page) {
      const { total, tasks: found } = await seal(
        "tasks/list",
        page,
        () => tasks.list(caller.keyId, page),
      );
      return { total, tasks: found.map(present) };
    },
    async *follow(id, least) {
      for await (const task of tasks.follow(id, caller.keyId, least, signal)) yield present(task);
    },
    has: (skill) => tools.has(skill),
    async call(asked) {
      const { operation } = tools.get(asked.skill)!;
      const opensNothing = operation.effect === "read" && operation.longRunning === undefined;
      if (opensNothing || asked.dryRun) return await call(asked, randomUUID());
      const { messageId: message_id, contextId: context_id, skill, input } = asked;
      return await once(
        { message_id, context_id, content: { skill, input } },
        (opens) => call(asked, opens),
      );
    },
    shown: (method) => seal(method, {}, () => Promise.resolve()),
    async unserved(method, why) {
      await seal(method, {}, () => Promise.reject(why)).catch((error) => {
        if (error !== why) throw error;
      });
    },
  };

  async function say(
    { dryRun, opens, ...said }: Said & { readonly opens?: string },
  ): Promise<Given> {
    const input = { ...said, ...(opens ? { opens } : {}) };
    const outcome = await act(sayInTask, "invoke_reasoning_pipeline", input, dryRun);
    const { receiptId } = outcome;
    const output = outputValue(outcome.output) as Record<string, unknown>;
    const held = heldBy(outcome);
    if (held && opens) {
      const message = { message_id: said.message_id, role: "user" as const, parts: said.parts };
      const about = { id: opens, key_id: caller.keyId, history: [message] };
      const context = said.context_id ? { context_id: said.context_id } : {};
      return { task: await tasks.hold(newTask({ ...about, ...context }), held) };
    }
    const metadata = { ...receiptMeta(receiptId), ...earlierMeta(outcome.governance?.earlier) };
    if (isInstead(outcome)) {
      return { reply: { parts: [{ data: output }], metadata, taskId: said.task_id } };
    }
    return { task: present({ ...output as unknown as TaskRecord, metadata }) };
  }

  async function call(
    { skill, input, dryRun, messageId, contextId }: SkillCall,
    id: string,
  ): Promise<Given> {
    const tool = tools.get(skill)!;
    const detached = tool.operation.longRunning !== undefined;
    const call = {
      ...{ door: "a2a" as const, name: skill, input, requestId, address, signal, dryRun },
      ...{ detached, progress: () => {} },
    };
    const result = await callTool(tool, call, {
      ...{ credential, invoke, findInjection },
      failed(problem) {
        const err = problem.extra.cause ?? problem;
        log.error({ request_id: requestId, tool: skill, err }, problem.message);
      },
    });
    const { content, structuredContent, isError, _meta } = result;
    const text = content.map((part) => part.text).join("\n");
    const metadata = _meta && { ..._meta };
    if (isError) return { reply: refusal(text, metadata) };
    const about = { id, skill, keyId: caller.keyId, messageId, contextId, input, metadata };
    const held = heldIn(structuredContent);
    if (held) return { task: await tasks.begin({ ...about, held }) };
    const given = structuredContent as { workflow_id?: string; run_id?: string } | undefined;
    if (detached && given?.workflow_id && given.run_id) {
      return { task: await tasks.begin({ ...about, given: given as StartedRun }) };
    }
    const parts = structuredContent ? [{ data: structuredContent }] : [{ text }];
    return { reply: { parts, metadata } };
  }
}

type StartedRun = { readonly workflow_id: string; readonly run_id: string };

/** Governance answered: people are asked first, or it was only asked what it would decide. */
const isInstead = ({ governance }: CallResult) => !!governance?.answer && governance.answer.kind !== "earlier";

function heldBy({ output, governance }: CallResult): PendingApproval | undefined {
  return governance?.answer?.kind === "held" ? heldIn(output) : undefined;
}

/** What people are asked, where that is what a call gave. */
function heldIn(output: unknown): PendingApproval | undefined {
  const { governance } = (output ?? {}) as { governance?: Record<string, unknown> };
  const approvalId = governance?.approval_id;
  if (typeof approvalId !== "string" || governance!.dry_run !== false) return undefined;
  return { approvalId, governance: governance! };
}

function refusal(text: string, metadata: SkillResult["metadata"]): SkillResult {
  const name = `${metadata?.["sealoop/error"]}`;
  if (name === "RateLimited") {
    const seconds = `${metadata?.["sealoop/retry_after_seconds"]}`;
    throw new Problem("RateLimited", text, { headers: { "retry-after": seconds } });
  }
  return { parts: [{ text }], metadata, error: { name, message: text } };
}

/** Seals what only reads: who asked for what, and whether there was one; what a task says stays out. */
function sealing<C>({ entrance }: AnswerParts<C>, caller: Asker["caller"]) {
  return async <T>(method: string, args: unknown, work: () => Promise<T>): Promise<T> => {
    const started = performance.now();
    const record = (end: Pick<AgentAction, "error" | "result">) => {
      const durationMs = performance.now() - started;
      const subject = method.split("/")[0]!;
      const about = { door: "a2a" as const, caller, method, subject, arguments: args };
      return entrance.record({ ...about, ...end, durationMs });
    };
    let result: T;
    try {
      result = await work();
    } catch (error) {
      if (error instanceof Problem) await record({ error });
      throw error;
    }
    const { id, version, total } = (result ?? {}) as Record<string, unknown>;
    await record({ result: { found: result !== undefined, id, version, total } });
    return result;
  };
}
