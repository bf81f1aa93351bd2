import type { Context } from "koa";
import { Problem } from "../contract/mod.ts";
import { readJson } from "../web/mod.ts";

/** A request of JSON-RPC: it has an id, under which its answer goes out on the stream. */
export interface JsonRpcRequest {
  readonly id: string | number;
  readonly method: string;
}

/**
 * Reads a posted message. What is no JSON, or no single message, is answered here as JSON-RPC has it.
 *
 * @returns undefined where it was refused
 * @throws {Problem} `TooLarge` above 1 MiB, `UnsupportedMediaType`
 */
export async function readMessage(ctx: Context): Promise<object | undefined> {
  try {
    const message = await readJson(ctx);
    if (typeof message === "object" && message !== null && !Array.isArray(message)) return message;
    const what = Array.isArray(message) ? "a batch" : message === undefined ? "nothing" : "a value";
    return refused(ctx, INVALID_REQUEST, `Expected one JSON-RPC message, and this is ${what}`);
  } catch (error) {
    if (!(error instanceof Problem) || error.name !== "InvalidInput") throw error;
    return refused(ctx, PARSE_ERROR, error.message);
  }
}

/** @see JSON-RPC 2.0 §5.1 */
const PARSE_ERROR = -32700;
/** The text is JSON and no message. @see JSON-RPC 2.0 §5.1 */
export const INVALID_REQUEST = -32600;

/** Answers a message that can't be answered on the stream, as nobody knows which request it was. */
export function refused(ctx: Context, code: number, message: string): undefined {
  ctx.status = 400;
  ctx.body = { jsonrpc: "2.0", id: null, error: { code, message } };
}

/** Whether a message is a request, in contrast to a notification or a response. */
export function wantsAnswer(message: object): message is JsonRpcRequest {
  return "method" in message && "id" in message;
}
