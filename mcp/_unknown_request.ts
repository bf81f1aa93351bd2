import type { ToolServerAuth } from "../calls/mod.ts";
import { asProblem, Problem } from "../contract/mod.ts";
import { toJsonRpcError } from "./_operation_call.ts";
import type { Sender } from "./auth.ts";
import { JsonRpcError } from "./requests.ts";
import { receiptMeta } from "./tool_call.ts";

/** A request for a tool, resource or prompt that does not exist. */
export interface UnknownRequest {
  readonly method: "tools/call" | "resources/read" | "prompts/get";
  /** As the client sent it. It may be anything, so only the private evidence holds it. */
  readonly name: string;
  /** Code of the JSON-RPC error. */
  readonly code: number;
  readonly message: string;
  readonly data?: Readonly<Record<string, unknown>>;
  /** The problem that is sealed; default: `NotFound`. */
  readonly problem?: Problem;
}

const MAX_NAME_LENGTH = 200;

/**
 * Refuses such a request. It is counted and sealed as any refused call.
 *
 * @throws {JsonRpcError} with the receipt; {@linkcode Problem} `RateLimited`
 */
export async function refuseUnknown(
  auth: ToolServerAuth,
  { caller }: Sender,
  { method, name, code, message, data, problem }: UnknownRequest,
): Promise<never> {
  const started = performance.now();
  await auth.count(caller);
  const receiptId = await auth.record({
    door: "mcp",
    caller,
    method,
    subject: "unknown",
    arguments: { name: name.slice(0, MAX_NAME_LENGTH) },
    error: problem ?? new Problem("NotFound", `There is nothing of this name for ${method}`),
    durationMs: performance.now() - started,
  });
  throw new JsonRpcError(code, message, { ...data, ...receiptMeta(receiptId) });
}

/** Refuses a request for a resource or prompt. @throws {JsonRpcError} */
export async function refuseUnknownRequest(
  auth: ToolServerAuth,
  sender: Sender,
  request: UnknownRequest,
  requestId: string,
): Promise<never> {
  try {
    return await refuseUnknown(auth, sender, request);
  } catch (error) {
    throw error instanceof JsonRpcError ? error : toJsonRpcError(asProblem(error), requestId);
  }
}
