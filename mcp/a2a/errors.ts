/** What goes wrong, in the protocol's own errors. */
import {
  ContentTypeNotSupportedError,
  JsonRpcTransportError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from "@a2a-js/sdk/errors";
import { asProblem, EARLIER_HEADER } from "../../contract/mod.ts";
import { earlierMeta } from "../call.ts";
import { type Answers, InsteadOfTask, type SkillResult } from "./answers.ts";

/** Codes of JSON-RPC; what has none of its own is the first that servers may give a meaning. */
const INVALID_PARAMS = -32602;
const INTERNAL = -32603;
const REFUSED = -32000;

/** The parameters are wrong. */
export const invalid = (message: string) => coded(INVALID_PARAMS, message);

function coded(code: number, message: string, data?: Record<string, unknown>): Error {
  return new JsonRpcTransportError({
    jsonrpc: "2.0",
    id: null,
    error: { code, message, ...(data ? { data } : {}) },
  });
}

/** What a tool that did not do what was asked is. */
export function toldAs(
  { name, message }: { name: string; message: string },
  data: SkillResult["metadata"],
) {
  const code = name === "InvalidInput" ? INVALID_PARAMS : name === "Internal" ? INTERNAL : REFUSED;
  return coded(code, message, data);
}

/** What an error is in the protocol. @param of the task that was asked for, and whether to cancel it */
export function errorOf(
  error: unknown,
  of: { readonly task?: string | undefined; readonly cancel?: boolean },
  { refused }: Answers,
): unknown {
  if (error instanceof InsteadOfTask) return coded(REFUSED, error.message, error.output);
  const problem = asProblem(error);
  const { name, message, rule, receiptId, governance, extra } = problem;
  if (of.task !== undefined && name === "NotFound") return new TaskNotFoundError(message);
  if (of.task !== undefined && name === "Conflict") {
    return of.cancel
      ? new TaskNotCancelableError(`Task cannot be canceled: ${message}`)
      : new UnsupportedOperationError(`This operation is not supported: ${message}`);
  }
  refused(problem);
  const data = {
    error: name,
    next: rule.next,
    ...(governance ? { decision: governance.decision, decision_id: governance.id, rule: governance.rule } : {}),
    ...(receiptId ? { receipt_id: receiptId } : {}),
    ...earlierMeta(extra.headers?.[EARLIER_HEADER]),
  };
  return toldAs(
    { name, message: name === "Internal" ? "The service failed to do this" : message },
    data,
  );
}

/** A media type that is not taken, or not given. */
export const contentType = (why: string) =>
  new ContentTypeNotSupportedError(`Incompatible content types, not supported: ${why}`);
