import { asProblem, type CallResult, type Operation, type Problem } from "../contract/mod.ts";
import type { ErrorName } from "../contract/domain/mod.ts";
import type { Log } from "../runtime/web/mod.ts";
import type { HandlerParts } from "./_handler_parts.ts";
import { JSON_RPC } from "./json_rpc.ts";
import { JsonRpcError, type RequestContext } from "./requests.ts";
import { receiptMeta } from "./tool_call.ts";

/**
 * Calls the operation of a resource or a prompt.
 *
 * @param name of the resource or prompt @throws {JsonRpcError}
 */
export type OperationCall<C> = (
  operation: Operation<C>,
  name: string,
  input: unknown,
  context: RequestContext,
) => Promise<CallResult>;

/** Creates the calls of one client. */
export function createOperationCall<C>(
  { invoke, log }: Pick<HandlerParts<C>, "invoke" | "log">,
): OperationCall<C> {
  return async (operation, name, input, context) => {
    try {
      return await invoke(operation, { ...context, door: "mcp", as: name, input });
    } catch (error) {
      const problem = asProblem(error);
      if (problem.rule.status >= 500) logFailure(log, name, context.requestId, problem);
      throw toJsonRpcError(problem, context.requestId);
    }
  };
}

/** Logs a failed call. */
export function logFailure(log: Log, tool: string, requestId: string, problem: Problem): void {
  const err = problem.extra.cause ?? problem;
  log.error({ request_id: requestId, tool, err }, problem.message);
}

/** @see MCP, Resources, Error Handling */
export const NO_RESOURCE = -32002;

const CODES: Partial<Record<ErrorName, number>> = {
  NotFound: NO_RESOURCE,
  ReceiptNotFound: NO_RESOURCE,
  InvalidInput: JSON_RPC.invalidParams,
  Internal: JSON_RPC.internalError,
};

/** Converts a problem to an error response. */
export function toJsonRpcError(problem: Problem, requestId: string): JsonRpcError {
  const { name, message, rule, receiptId, extra } = problem;
  const detail = name === "Internal"
    ? `The service failed to do this (request id ${requestId})`
    : message;
  const retryAfter = extra.headers?.["retry-after"];
  return new JsonRpcError(CODES[name] ?? JSON_RPC.serverError, `${detail}\n${rule.next}`, {
    error: name,
    ...(retryAfter ? { retry_after_seconds: Number(retryAfter) } : {}),
    ...receiptMeta(receiptId),
  });
}
