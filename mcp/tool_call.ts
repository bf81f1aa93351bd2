import {
  asProblem,
  type CallResult,
  EARLIER_HEADER,
  type Invoke,
  outputValue,
  type Problem,
} from "../contract/mod.ts";
import { readToolArguments } from "./_tool_arguments.ts";
import type { ToolCall, ToolResult } from "./requests.ts";
import { shape, tellGovernance, type View } from "./results/mod.ts";
import type { Tool } from "./tools.ts";
import { describeUntrusted, type MakeSafe, untrustedMeta } from "./untrusted.ts";

/** The parts that a tool call works with. */
export interface ToolCallParts<C> {
  /** Tenant of its key. */
  readonly tenant: string;
  readonly invoke: Invoke<C>;
  readonly makeSafe: MakeSafe;
  /** Logs a problem that is the service's fault. */
  logFailure(problem: Problem): void;
}

type Metadata = Readonly<Record<string, unknown>>;

/**
 * Calls a tool. A failure is a result too, with advice for the agent; an output that quotes others is marked as data.
 *
 * @param view how much of the output the caller wants; undefined: a program takes it as it is
 */
export async function callTool<C>(
  tool: Tool<C>,
  call: ToolCall,
  view: View | undefined,
  { tenant, invoke, makeSafe, logFailure }: ToolCallParts<C>,
): Promise<ToolResult> {
  const { door = "mcp", name, ...request } = call;
  const input = readToolArguments(tool.operation.input, call.input);
  try {
    const result = await invoke(tool.operation, { ...request, input, door, as: name });
    return await toToolResult(result, tool, view, (value) => makeSafe(tenant, value));
  } catch (error) {
    const problem = asProblem(error);
    if (problem.rule.status >= 500) logFailure(problem);
    return toErrorResult(problem, call.requestId);
  }
}

async function toToolResult<C>(
  { output, receiptId, governance, earlier }: CallResult,
  tool: Tool<C>,
  view: View | undefined,
  makeSafe: (value: unknown) => ReturnType<MakeSafe>,
): Promise<ToolResult> {
  const kind = governance?.answer?.kind;
  const isOutput = kind === undefined || kind === "earlier"; // otherwise governance's own answer, an object
  const { presentation = {} } = tool.operation;
  const safe = isOutput && presentation.untrusted
    ? await makeSafe(outputValue(output) ?? null)
    : undefined;
  const given = safe ? safe.value : outputValue(output) ?? null;
  const teller = isOutput ? tool.operation : { presentation: { tell: tellGovernance } };
  const { text, value } = view
    ? shape(teller, given, view)
    : { text: JSON.stringify(given), value: given };
  const meta = receiptId
    ? { ...receiptMeta(receiptId), ...decisionMeta(governance), ...earlierMeta(earlier) }
    : {};
  const warning = safe ? [{ type: "text" as const, text: describeUntrusted(safe) }] : [];
  return {
    content: [{ type: "text", text }, ...warning],
    structuredContent: tool.wrapped && isOutput ? { result: value } : value as Metadata,
    ...(safe || receiptId ? { _meta: { ...safe && untrustedMeta(safe), ...meta } } : {}),
  };
}

/** Converts a problem to a result that tells the agent what to do next. */
export function toErrorResult(problem: Problem, requestId: string): ToolResult {
  const { name, message, rule, receiptId, extra, governance } = problem;
  const detail = name === "Internal"
    ? `The service failed to do this (request id ${requestId})`
    : message;
  const retryAfter = extra.headers?.["retry-after"];
  return {
    isError: true,
    content: [{ type: "text", text: `${detail}\n${rule.next}` }],
    _meta: {
      "sealoop/error": name,
      "sealoop/request_id": requestId,
      ...(retryAfter ? { "sealoop/retry_after_seconds": Number(retryAfter) } : {}),
      ...earlierMeta(extra.headers?.[EARLIER_HEADER]),
      ...decisionMeta(governance),
      ...receiptMeta(receiptId),
    },
  };
}

/** Returns the metadata of an answer that repeats an earlier outcome. @param endedAt when that call ended, ISO 8601 */
export const earlierMeta = (endedAt: string | undefined): Readonly<Record<string, string>> =>
  endedAt ? { "sealoop/earlier": endedAt } : {};

function decisionMeta(
  governance: CallResult["governance"] | Problem["governance"],
): Metadata {
  if (!governance) return {};
  const { approvalId } = governance as Partial<NonNullable<CallResult["governance"]>>;
  return {
    "sealoop/decision": governance.decision,
    "sealoop/decision_id": governance.id,
    "sealoop/rule": governance.rule,
    ...(approvalId ? { "sealoop/approval_id": approvalId } : {}),
  };
}

/** Returns the metadata with a receipt's id: under the prefixed name that MCP asks for, and plainly. */
export function receiptMeta(id: string | undefined): Readonly<Record<string, string>> {
  return id === undefined ? {} : { "sealoop/receipt_id": id, receipt_id: id };
}
