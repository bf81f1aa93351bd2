import { Problem } from "../../contract/mod.ts";
import type { StartedRun } from "../../contract/domain/mod.ts";
import { callTool } from "../tool_call.ts";
import { heldCallIn } from "./_held.ts";
import type {
  A2aHandlerParts,
  MessageResult,
  Reply,
  RequestSender,
  SkillCall,
} from "./handlers.ts";

/** Calls a skill. A call that is held or starts a workflow becomes a task. @param taskId of that task */
export async function callSkill<C>(
  { tools, tasks, invoke, makeSafe, log }: A2aHandlerParts<C>,
  { caller, credential, requestId, address, signal }: RequestSender,
  { skill, input, messageId, contextId, ...marks }: SkillCall,
  taskId: string,
): Promise<MessageResult> {
  const tool = tools.get(skill)!;
  const detached = tool.operation.durability?.longRunning !== undefined;
  const call = {
    door: "a2a" as const,
    name: skill,
    input,
    ...marks,
    requestId,
    address,
    credential,
    signal,
    detached,
    progress: () => {},
  };
  const { content, structuredContent, isError, _meta } = await callTool(tool, call, undefined, {
    tenant: caller.tenant,
    invoke,
    makeSafe,
    logFailure(problem) {
      const err = problem.extra.cause ?? problem;
      log.error({ request_id: requestId, tool: skill, err }, problem.message);
    },
  });
  const text = content.map((part) => part.text).join("\n");
  const metadata = _meta && { ..._meta };
  if (isError) return { reply: toErrorReply(text, metadata) };
  const task = { id: taskId, skill, keyId: caller.keyId, messageId, contextId, input, metadata };
  const held = heldCallIn(structuredContent);
  if (held) return { task: await tasks.begin({ ...task, waitsFor: held }, caller) };
  if (detached && isStartedRun(structuredContent)) {
    return { task: await tasks.begin({ ...task, run: structuredContent }, caller) };
  }
  const parts = structuredContent ? [{ data: structuredContent }] : [{ text }];
  return { reply: { parts, metadata } };
}

function isStartedRun(output: Readonly<Record<string, unknown>> = {}): output is StartedRun {
  return Boolean(output.workflow_id && output.run_id);
}

/** @throws {Problem} `RateLimited`, which has an HTTP status of its own */
function toErrorReply(text: string, metadata: Reply["metadata"]): Reply {
  const name = `${metadata?.["sealoop/error"]}`;
  if (name === "RateLimited") {
    const seconds = `${metadata?.["sealoop/retry_after_seconds"]}`;
    throw new Problem("RateLimited", text, { headers: { "retry-after": seconds } });
  }
  return { parts: [{ text }], metadata, error: { name, message: text } };
}
