import {
  asProblem,
  EARLIER_HEADER,
  type Invoke,
  JsonText,
  type CallResult,
  outputValue,
  type Problem,
} from "../contract/mod.ts";
import type { ToolCall, ToolResult } from "./handlers.ts";
import type { Tool } from "./tools.ts";
import { type FindInjection, untrustedResult } from "./untrusted.ts";

/** Whose call it is, and what it goes through. */
export interface CallParts<C> {
  /** The key as sent, which is checked again at every call. */
  readonly credential: string;
  readonly invoke: Invoke<C>;
  /** Looks through what comes from outside. */
  readonly findInjection: FindInjection;
  /** Told of what is the service's own fault, for the log. */
  failed(problem: Problem): void;
}

/**
 * Calls a tool by the one way in. What goes wrong is a result too, that tells the agent what to do next; what comes from
 * outside is marked as data.
 */
export async function callTool<C>(
  tool: Tool<C>,
  call: ToolCall,
  { credential, invoke, findInjection, failed }: CallParts<C>,
): Promise<ToolResult> {
  const { door = "mcp", name, input, dryRun, requestId, address, signal, progress } = call;
  const { detached } = call;
  try {
    const outcome = await invoke(tool.operation, {
      door,
      as: name,
      requestId,
      credential,
      address,
      input,
      dryRun,
      signal,
      progress,
      detached,
    });
    return success(outcome, tool, findInjection);
  } catch (error) {
    const problem = asProblem(error);
    if (problem.rule.status >= 500) failed(problem);
    return failure(problem, requestId);
  }
}

function success<C>(
  { output, receiptId, governance }: CallResult,
  tool: Tool<C>,
  find: FindInjection,
): ToolResult {
  const meta = receiptId ? { ...receiptMeta(receiptId), ...decisionMeta(governance) } : {};
  const kind = governance?.answer?.kind;
  const isGiven = kind === undefined || kind === "earlier"; // else governance answers, with an object of its own
  const wrapped = tool.wrapped && isGiven;
  const value = outputValue(output);
  if (tool.operation.untrusted && isGiven) {
    const { _meta, ...result } = untrustedResult(value, wrapped, find);
    return { ...result, _meta: { ..._meta, ...meta } };
  }
  const text = output instanceof JsonText ? output.text : JSON.stringify(output ?? null);
  return {
    content: [{ type: "text", text }],
    structuredContent: wrapped ? { result: value ?? null } : value as Record<string, unknown>,
    ...(receiptId ? { _meta: meta } : {}),
  };
}

/** What went wrong, as a result that says what to do next. */
export function failure(problem: Problem, requestId: string): ToolResult {
  const { name, message, rule, receiptId, extra, governance } = problem;
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
      ...earlierMeta(extra.headers?.[EARLIER_HEADER]),
      ...(governance
        ? {
          "sealoop/decision": governance.decision,
          "sealoop/decision_id": governance.id,
          "sealoop/rule": governance.rule,
        }
        : {}),
      ...receiptMeta(receiptId),
    },
  };
}

/** When it ended, where nothing was done now, as what is given is what became of it before. */
export const earlierMeta = (at: string | undefined): Readonly<Record<string, string>> =>
  at ? { "sealoop/earlier": at } : {};

function decisionMeta(ruling: CallResult["governance"]) {
  if (!ruling) return {};
  return {
    "sealoop/decision": ruling.decision,
    "sealoop/decision_id": ruling.id,
    "sealoop/rule": ruling.rule,
    ...(ruling.approvalId ? { "sealoop/approval_id": ruling.approvalId } : {}),
    ...earlierMeta(ruling.earlier),
  };
}

/** A receipt's id under the protocol's prefixed form of names, and plainly for those who look for that. */
export function receiptMeta(id: string | undefined): Readonly<Record<string, string>> {
  return id === undefined ? {} : { "sealoop/receipt_id": id, receipt_id: id };
}
