import { asProblem, type Invoke, JsonText, type Outcome, type Problem } from "../contract/mod.ts";
import type { ToolCall, ToolResult } from "./handlers.ts";
import type { Tool } from "./tools.ts";

/**
 * Calls a tool by the one way in. What goes wrong is a result too, that tells the agent what to do next.
 *
 * @param credential the session's key, which is checked again at every call
 * @param failed told of what is the service's own fault, for the log
 */
export async function callTool<C>(
  { operation, wrapped }: Tool<C>,
  call: ToolCall,
  credential: string,
  invoke: Invoke<C>,
  failed: (problem: Problem) => void,
): Promise<ToolResult> {
  const { name, input, dryRun, requestId, address, signal, progress } = call;
  try {
    const outcome = await invoke(operation, {
      door: "mcp",
      as: name,
      requestId,
      credential,
      address,
      input,
      dryRun,
      signal,
      progress,
    });
    return success(outcome, wrapped);
  } catch (error) {
    const problem = asProblem(error);
    if (problem.rule.status >= 500) failed(problem);
    return failure(problem, requestId);
  }
}

function success({ output, receiptId, ruling }: Outcome, isWrapped: boolean): ToolResult {
  const kind = ruling?.instead?.kind;
  const wrapped = isWrapped && (kind === undefined || kind === "earlier"); // governance gives an object
  const text = output instanceof JsonText ? output.text : JSON.stringify(output ?? null);
  const value = output instanceof JsonText ? output.value() : output;
  return {
    content: [{ type: "text", text }],
    structuredContent: wrapped ? { result: value ?? null } : value as Record<string, unknown>,
    ...(receiptId ? { _meta: { ...receiptMeta(receiptId), ...decisionMeta(ruling) } } : {}),
  };
}

function failure(problem: Problem, requestId: string): ToolResult {
  const { name, message, rule, receiptId, extra } = problem;
  const internal = name === "Internal";
  const what = internal ? `The service failed to do this (request id ${requestId})` : message;
  const retryAfter = extra.headers?.["retry-after"];
  return {
    isError: true,
    content: [{ type: "text", text: `${what}\n${rule.next}` }],
    _meta: {
      "sealoop/error": name,
      "sealoop/request_id": requestId,
      ...(retryAfter ? { "sealoop/retry_after_seconds": Number(retryAfter) } : {}),
      ...(receiptId ? receiptMeta(receiptId) : {}),
    },
  };
}

function decisionMeta(ruling: Outcome["ruling"]) {
  if (!ruling) return {};
  return {
    "sealoop/decision": ruling.decision,
    "sealoop/decision_id": ruling.id,
    ...(ruling.approvalId ? { "sealoop/approval_id": ruling.approvalId } : {}),
  };
}

/** Under the protocol's prefixed form of names, and plainly for those who look for that. */
const receiptMeta = (id: string) => ({ "sealoop/receipt_id": id, receipt_id: id });
