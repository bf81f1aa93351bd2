/** Problems as errors of the protocol. */
import {
  ContentTypeNotSupportedError,
  JsonRpcTransportError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { asProblem, EARLIER_HEADER, type Problem } from "../../contract/mod.ts";
import { JSON_RPC } from "../json_rpc.ts";
import { earlierMeta } from "../tool_call.ts";
import { HeldRequest, type Reply } from "./handlers.ts";

/** Creates the error for wrong parameters. */
export const invalidParams = (message: string) => createError(JSON_RPC.invalidParams, message);

function createError(code: number, message: string, data?: Record<string, unknown>): Error {
  return new JsonRpcTransportError({
    jsonrpc: "2.0",
    id: null,
    error: { code, message, ...(data ? { data } : {}) },
  });
}

/** Creates the error for a skill that did not do what was asked. */
export function skillError(
  { name, message }: { name: string; message: string },
  data: Reply["metadata"],
) {
  const code = name === "InvalidInput"
    ? JSON_RPC.invalidParams
    : name === "Internal"
    ? JSON_RPC.internalError
    : JSON_RPC.serverError;
  return createError(code, message, data);
}

/** The request that an error belongs to. */
export interface ErrorContext {
  /** The task that was requested. */
  readonly task?: string | undefined;
  readonly isCancel?: boolean;
}

/** Converts an error to one of the protocol. @param report called with a problem that the protocol has no error for */
export function toProtocolError(
  error: unknown,
  { task, isCancel }: ErrorContext,
  report: (problem: Problem) => void,
): unknown {
  if (error instanceof HeldRequest) {
    return createError(JSON_RPC.serverError, error.message, error.output);
  }
  const problem = asProblem(error);
  const { name, message, rule, receiptId, governance, extra } = problem;
  if (task !== undefined && name === "NotFound") return new TaskNotFoundError(message);
  if (task !== undefined && name === "Conflict") {
    return isCancel
      ? new TaskNotCancelableError(`Task cannot be canceled: ${message}`)
      : new UnsupportedOperationError(`This operation is not supported: ${message}`);
  }
  report(problem);
  const data = {
    error: name,
    next: rule.next,
    ...(governance
      ? { decision: governance.decision, decision_id: governance.id, rule: governance.rule }
      : {}),
    ...(receiptId ? { receipt_id: receiptId } : {}),
    ...earlierMeta(extra.headers?.[EARLIER_HEADER]),
  };
  const detail = name === "Internal" ? "The service failed to do this" : message;
  return skillError({ name, message: detail }, data);
}

/** Creates the error for a media type that is not supported. */
export const contentTypeError = (why: string) =>
  new ContentTypeNotSupportedError(`Incompatible content types, not supported: ${why}`);
